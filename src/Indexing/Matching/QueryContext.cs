using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching;

/// <summary>
/// What the operators of one running query share: the view, the pool of window sets, cancellation. Owns every storage
/// cursor of the query and closes them together.
/// </summary>
internal sealed class QueryContext(IndexView view, CancellationToken cancellationToken) : IDisposable
{
    private readonly Stack<WindowSet> pool = new();
    private readonly List<IDisposable> cursors = [];
    private readonly Dictionary<int, LengthFactors> factors = [];

    public IndexView View { get; } = view;

    public CancellationToken CancellationToken { get; } = cancellationToken;

    /// <summary>Terms that one pattern of the query may read.</summary>
    public long MaxTermsRead { get; init; } = TermScan.MaxTerms;

    /// <summary>What scores are reckoned from where the view is not all that answers; null: the view's own figures.</summary>
    public CombinedStatistics? Combined { get; init; }

    /// <summary>Takes an empty set out of the pool; give it back with <see cref="Return"/>.</summary>
    public WindowSet Rent()
    {
        WindowSet set = pool.Count > 0 ? pool.Pop() : new WindowSet();
        set.SetEmpty();
        return set;
    }

    public void Return(WindowSet set) => pool.Push(set);

    /// <summary>A cursor over a long list, open until the query ends.</summary>
    public PostingCursor OpenPostings(Tree postings, long listId)
    {
        var cursor = new PostingCursor(postings, listId);
        cursors.Add(cursor);
        return cursor;
    }

    /// <summary>A cursor over the positions of a long list, open until the query ends.</summary>
    public PositionCursor OpenPositions(Tree positions, long listId)
    {
        var cursor = new PositionCursor(positions, listId);
        cursors.Add(cursor);
        return cursor;
    }

    /// <summary>A cursor over the chunks of a column, open until the query ends.</summary>
    public ChunkCursor OpenColumn(Tree? column)
    {
        var cursor = new ChunkCursor(column);
        cursors.Add(cursor);
        return cursor;
    }

    /// <summary>Lengths of a full-text field, shared by its terms.</summary>
    public LengthFactors Factors(int field)
    {
        if (!factors.TryGetValue(field, out LengthFactors? found))
            factors.Add(field, found = new LengthFactors(OpenColumn(View.Tree(TreeNames.Norms(field))), StatisticsOf(field)));
        return found;
    }

    /// <summary>Entries that have a term of a full-text field, of which the view has so many.</summary>
    public long EntriesWith(int field, ReadOnlySpan<byte> form, long own) => Combined?.EntriesWith(field, form) ?? own;

    private FieldStatistics StatisticsOf(int field)
    {
        FieldStatistics own = View.Statistics(field);
        return Combined?.Of(field, own) ?? own;
    }

    public void Dispose()
    {
        foreach (IDisposable cursor in cursors)
            cursor.Dispose();
    }
}
