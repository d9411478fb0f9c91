using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Vectors;

namespace Treepie.Indexing.Matching;

/// <summary>
/// An index and the changes it has not seen, asked as one. Most operators answer for themselves, as their entries are apart; what
/// depends on both is here: the figures that scores are reckoned from, and the searches that give the best of all entries, which
/// are made over both and of which each side then takes its own part.
/// </summary>
/// <remarks>
/// Promises: what is found is what one index that has seen the changes would find, but for vectors by the graph, of which the
/// changes are compared one by one. Costs: such a search is made once, for both sides.
/// </remarks>
internal sealed class CombinedIndex : IDisposable
{
    private readonly List<(IndexQuery Search, IReadOnlyList<IndexQuery> Beside, List<NearEntry> Found)> _known = [];
    private readonly NotQuery? _present;
    private readonly long _firstTailId;

    /// <param name="main">The index.</param>
    /// <param name="tail">The changes.</param>
    /// <param name="cancellationToken">Ends the query.</param>
    /// <param name="options">Plan, budget and hints; null: none.</param>
    public CombinedIndex(IndexView main, TailView tail, CancellationToken cancellationToken, QueryOptions? options = null)
    {
        _firstTailId = main.State.NextEntryId;
        _present = tail.Gone.Length == 0 ? null : new NotQuery(new EntriesQuery(tail.Gone));
        Statistics = new CombinedStatistics(main, tail.Index, tail.Gone);
        Main = new QueryContext(main, cancellationToken, options) { Combined = this };
        Tail = new QueryContext(tail.Index, cancellationToken, options) { Combined = this };
    }

    /// <summary>The query over the index; it sees entries that are gone, see <see cref="Present"/>.</summary>
    public QueryContext Main { get; }

    /// <summary>The query over the changes.</summary>
    public QueryContext Tail { get; }

    /// <summary>What scores are reckoned from.</summary>
    public CombinedStatistics Statistics { get; }

    /// <summary>What both have done so far.</summary>
    public QueryCounters Measure() => Main.Measure() + Tail.Measure();

    /// <summary>The condition that leaves out the entries that are gone; null where there are none.</summary>
    public IndexQuery? NotGone => _present;

    /// <summary>A query over the index, without the entries that are gone.</summary>
    public IndexQuery Present(IndexQuery query) => _present is null ? query : new AndQuery([query, _present]);

    /// <summary>What of that which a search finds in both belongs to one side.</summary>
    public List<NearEntry> PartOf(QueryContext side, List<NearEntry> found) =>
        found.FindAll(entry => entry.Id < _firstTailId == (side == Main));

    /// <summary>What a search finds, best first. Both sides ask, and a plan may be made twice: it is made once.</summary>
    public List<NearEntry> Found(
        IndexQuery search, List<IndexQuery> beside, Func<IndexQuery, List<IndexQuery>, List<NearEntry>> make)
    {
        foreach ((IndexQuery other, IReadOnlyList<IndexQuery> besideOther, List<NearEntry> found) in _known)
        {
            if (ReferenceEquals(other, search) && besideOther.SequenceEqual(beside, ReferenceEqualityComparer.Instance))
                return found;
        }

        List<NearEntry> made = make(search, beside);
        _known.Add((search, beside, made));
        return made;
    }

    /// <summary>Where an entry is that has a key now.</summary>
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
