using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexing.Queries;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// A bound query that is cached for reuse. Everything that depends only on its text is kept; its condition and page are bound
/// again if they depend on parameters or on data that can change. Immutable, thread-safe.
/// </summary>
internal sealed class PreparedQuery
{
    /// <summary>The maximum number of conditions in a query that is cached as a whole.</summary>
    private const int MostConditions = 64;

    private readonly RqlQuery _query;
    private readonly BoundQuery _bound;
    private readonly FieldBinder _fields;
    private readonly IndexMapping? _index;
    private readonly bool _isWhole;

    /// <param name="query">The query.</param>
    /// <param name="bound">Its binding.</param>
    /// <param name="fields">The field binder of the query; must not be used by others afterwards.</param>
    /// <param name="index">The named index of the query, or null.</param>
    /// <param name="takesParameters">Whether its condition or page take parameters. No other part may.</param>
    public PreparedQuery(RqlQuery query, BoundQuery bound, FieldBinder fields, IndexMapping? index, bool takesParameters)
    {
        (_query, _fields, _index) = (query, fields, index);
        int conditions = 0;
        _isWhole = !takesParameters && !bound.ReadsBeside && IsSaidByText(bound.Condition, ref conditions);
        bound = bound with { KeptChoice = new KeptChoice() };
        // do not keep the values of the first request: there may be many
        _bound = _isWhole ? bound : bound with { Condition = new MatchAllQuery(), Ids = [], IdPrefix = "" };
    }

    /// <summary>Whether the binding depends only on the text.</summary>
    public bool IsWhole => _isWhole;

    /// <summary>Binds the query with these parameters. Returns null if its index was redefined.</summary>
    /// <exception cref="InvalidQueryException">A parameter is missing or not valid for the query.</exception>
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

    /// <summary>
    /// Whether a condition always has the same meaning. False if it loads documents or counts shape vertices.
    /// </summary>
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
