using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Vectors;

namespace Treepie.Indexing.Matching;

/// <summary>
/// An index combined with its tail of changes not yet indexed, queried as one. Most operators work on each side separately,
/// since the entries are disjoint. This class holds what spans both sides: the statistics for scoring, and the searches that
/// return the best of all entries, which run once over both sides and are then split between them.
/// </summary>
/// <remarks>
/// Guarantee: the results are those of one index containing the changes, except for approximate vector searches through the
/// graph, where the changes are compared exhaustively. Each spanning search runs once for both sides.
/// </remarks>
internal sealed class CombinedIndex : IDisposable
{
    private readonly List<(IndexQuery Search, IReadOnlyList<IndexQuery> Beside, List<NearEntry> Found)> _known = [];
    private readonly NotQuery? _present;
    private readonly long _firstTailId;

    /// <param name="main">The index.</param>
    /// <param name="tail">The changes.</param>
    /// <param name="cancellationToken">Cancels the query.</param>
    /// <param name="options">Plan, budget and hints; null for none.</param>
    public CombinedIndex(IndexView main, TailView tail, CancellationToken cancellationToken, QueryOptions? options = null)
    {
        _firstTailId = main.State.NextEntryId;
        _present = tail.Gone.Length == 0 ? null : new NotQuery(new EntriesQuery(tail.Gone));
        Statistics = new CombinedStatistics(main, tail.Index, tail.Gone);
        Main = new QueryContext(main, cancellationToken, options) { Combined = this };
        Tail = new QueryContext(tail.Index, cancellationToken, options) { Combined = this };
    }

    /// <summary>The query over the index. It sees deleted and replaced entries; see <see cref="Present"/>.</summary>
    public QueryContext Main { get; }

    /// <summary>The query over the changes.</summary>
    public QueryContext Tail { get; }

    /// <summary>Statistics of both sides, for scoring.</summary>
    public CombinedStatistics Statistics { get; }

    /// <summary>Counters of both sides so far.</summary>
    public QueryCounters Measure() => Main.Measure() + Tail.Measure();

    /// <summary>The condition that excludes deleted and replaced entries; null if there are none.</summary>
    public IndexQuery? NotGone => _present;

    /// <summary>Adds the condition <see cref="NotGone"/> to a query over the index.</summary>
    public IndexQuery Present(IndexQuery query) => _present is null ? query : new AndQuery([query, _present]);

    /// <summary>The part of the results of a spanning search that belongs to one side.</summary>
    public List<NearEntry> PartOf(QueryContext side, List<NearEntry> found) =>
        found.FindAll(entry => entry.Id < _firstTailId == (side == Main));

    /// <summary>The part of given entries that is on one side.</summary>
    public long[] PartOf(QueryContext side, IReadOnlyList<long> ids) => [.. ids.Where(id => id < _firstTailId == (side == Main))];

    /// <summary>
    /// Returns the results of a spanning search, best first. Cached, since both sides ask and a plan may be compiled twice.
    /// </summary>
    public List<NearEntry> Found(
        IndexQuery search, List<IndexQuery> beside, Func<IndexQuery, List<IndexQuery>, List<NearEntry>> make)
    {
        foreach ((IndexQuery other, IReadOnlyList<IndexQuery> besideOther, List<NearEntry> found) in _known)
        {
            if (ReferenceEquals(other, search) && besideOther.SequenceEqual(beside))
                return found;
        }

        List<NearEntry> made = make(search, beside);
        _known.Add((search, beside, made));
        return made;
    }

    /// <summary>Finds the current entry with a key, and the side it is on.</summary>
    public bool TryFind(ReadOnlySpan<byte> key, out QueryContext where, out long id)
    {
        (where, id) = (Tail, Tail.View.Find(key));
        if (id < 0)
            (where, id) = (Main, Main.View.Find(key));
        return id >= 0 && (where == Tail || !Statistics.IsGone(id));
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Main.Dispose();
        Tail.Dispose();
    }
}
