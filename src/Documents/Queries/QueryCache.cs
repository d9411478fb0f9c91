using System.Collections.Concurrent;
using System.Text.Json;
using Treepie.Indexing.Queries;
using Treepie.Queries.Binding;
using Treepie.Rql.Syntax;

namespace Treepie.Queries;

/// <summary>
/// Queries that were asked lately, by their text: as they were parsed, and, where nothing but the text says what they mean, as
/// they were bound. Bounded: beside those of now there are those of before, and when the first are as many as may be they become
/// the others. Thread-safe.
/// </summary>
internal sealed class QueryCache
{
    /// <summary>Longest text that is kept, in characters.</summary>
    private const int MaxLength = 2_048;

    /// <summary>Queries of now; of those of before there are as many.</summary>
    private const int Most = 512;

    /// <summary>Conditions of a query that is kept bound.</summary>
    private const int MostConditions = 64;

    private readonly Lock _lock = new();
    private ConcurrentDictionary<string, Entry> _now = new(StringComparer.Ordinal);
    private ConcurrentDictionary<string, Entry> _before = new(StringComparer.Ordinal);

    /// <summary>Queries that are kept.</summary>
    public int Count => Volatile.Read(ref _now).Count + Volatile.Read(ref _before).Count;

    /// <summary>A query as it was parsed; null where it was not.</summary>
    public RqlQuery? Parsed(string text) => Find(text)?.Parsed;

    /// <summary>A query as it was bound; null where it was not, or has parameters.</summary>
    public BoundQuery? Bound(QueryRequest request) =>
        HasParameters(request) || request.ProjectionBehavior != ProjectionBehavior.Default ? null : Find(request.Text)?.Bound;

    /// <summary>Keeps a query.</summary>
    public void Keep(QueryRequest request, RqlQuery parsed, BoundQuery bound)
    {
        if (request.Text.Length > MaxLength)
            return;
        bool isBound = !HasParameters(request) && request.ProjectionBehavior == ProjectionBehavior.Default && IsSaidByText(bound);
        if (Find(request.Text) is { } known && (known.Bound is not null || !isBound))
            return;
        lock (_lock)
        {
            if (_now.Count >= Most)
            {
                Volatile.Write(ref _before, _now);
                Volatile.Write(ref _now, new ConcurrentDictionary<string, Entry>(StringComparer.Ordinal));
            }

            _now[request.Text] = new Entry(parsed, isBound ? bound : null);
        }
    }

    private Entry? Find(string text)
    {
        if (text.Length > MaxLength)
            return null;
        if (Volatile.Read(ref _now).TryGetValue(text, out Entry? entry))
            return entry;
        if (!Volatile.Read(ref _before).TryGetValue(text, out entry))
            return null;
        lock (_lock)
        {
            if (_now.Count < Most)
                _now[text] = entry; // what is still asked is not of before
        }

        return entry;
    }

    private static bool HasParameters(QueryRequest request) => request.Parameters.ValueKind switch
    {
        JsonValueKind.Undefined or JsonValueKind.Null => false,
        JsonValueKind.Object => request.Parameters.EnumerateObject().MoveNext(),
        _ => true,
    };

    /// <summary>
    /// Whether a query means the same each time: not where it names an index, which may be defined anew, loads documents, counts
    /// corners of shapes, or draws a seed.
    /// </summary>
    private static bool IsSaidByText(BoundQuery query)
    {
        int conditions = 0;
        return query.Source != SourceKind.NamedIndex && !query.IsComputed && !query.ReadsBeside
            && query.Sort.All(
                static key => key.Kind is SortKind.Text or SortKind.Long or SortKind.Double or SortKind.AlphaNumeric
                    or SortKind.Score)
            && IsSaidByText(query.Condition, ref conditions);
    }

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

    private sealed record Entry(RqlQuery Parsed, BoundQuery? Bound);
}
