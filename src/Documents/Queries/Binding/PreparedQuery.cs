using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexing.Queries;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// A query that was bound, for those who ask it again: what its text alone says is known; its condition and page are bound anew,
/// where parameters, or what others may change, have a part in them. Immutable, thread-safe.
/// </summary>
internal sealed class PreparedQuery
{
    /// <summary>Conditions of a query that is kept whole.</summary>
    private const int MostConditions = 64;

    private readonly RqlQuery _query;
    private readonly BoundQuery _bound;
    private readonly FieldBinder _fields;
    private readonly IndexMapping? _index;
    private readonly bool _isWhole;

    /// <param name="query">The query.</param>
    /// <param name="bound">What it means.</param>
    /// <param name="fields">The fields found in it; nobody may use it but this.</param>
    /// <param name="index">The index that it names; null: none.</param>
    /// <param name="takesParameters">Whether its condition or its page take parameters; nothing else may.</param>
    public PreparedQuery(RqlQuery query, BoundQuery bound, FieldBinder fields, IndexMapping? index, bool takesParameters)
    {
        (_query, _fields, _index) = (query, fields, index);
        int conditions = 0;
        _isWhole = !takesParameters && !bound.ReadsBeside && IsSaidByText(bound.Condition, ref conditions);
        // values of the first who asked may be many
        _bound = _isWhole ? bound : bound with { Condition = new MatchAllQuery(), Ids = [], IdPrefix = "" };
    }

    /// <summary>Whether nothing but the text says what the query means.</summary>
    public bool IsWhole => _isWhole;

    /// <summary>The query with these parameters; null where its index was defined anew.</summary>
    /// <exception cref="InvalidQueryException">A parameter is missing, or is none that the query can have.</exception>
    public BoundQuery? Bind(
        JsonElement parameters, IndexMapping? index, TimeProvider timeProvider, BindingContext context,
        CancellationToken cancellationToken)
    {
        if (!ReferenceEquals(index, _index))
            return null;
        return _isWhole
            ? _bound
            : QueryBinder.BindAgain(
                _query, parameters, timeProvider, _bound, new FieldBinder(_query, _index, _fields), context, cancellationToken);
    }

    /// <summary>Whether a condition means the same each time: not where it loads documents or counts corners of shapes.</summary>
    private static bool IsSaidByText(IndexQuery query, ref int conditions)
    {
        if (++conditions > MostConditions)
            return false;
        switch (query)
        {
            case MatchAllQuery or MatchNoneQuery or TermQuery or InQuery or AllInQuery or RangeQuery or PrefixQuery or SuffixQuery
                or ExistsQuery or FullTextQuery or PhraseQuery or RegexQuery or FuzzyQuery:
                return true;
            case NotQuery negated:
                return IsSaidByText(negated.Clause, ref conditions);
            case BoostQuery boost:
                return IsSaidByText(boost.Clause, ref conditions);
            case AndQuery or OrQuery:
                foreach (IndexQuery clause in query is AndQuery all ? all.Clauses : ((OrQuery)query).Clauses)
                    if (!IsSaidByText(clause, ref conditions))
                        return false;

                return true;
            default:
                return false;
        }
    }
}
