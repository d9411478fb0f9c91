namespace Treepie.Indexing.Sorting;

/// <summary>
/// The reusable buffers of a <see cref="HitSorter"/>, for one sorter at a time; each finds them empty.
/// </summary>
internal sealed class SortRoom : IReusable
{
    private const int FirstHits = 16;

    /// <summary>Largest hit buffer to keep: a page of some hundreds. A larger one is released.</summary>
    private const int MostKeptHits = 512;

    /// <summary>The key being written.</summary>
    public KeyBuffer Key { get; } = new();

    /// <summary>The keys of kept hits.</summary>
    public KeyArena Arena { get; } = new();

    /// <summary>The hits; the sorter replaces the array by a larger one.</summary>
    public SortedHit[] Hits { get; set; } = new SortedHit[FirstHits];

    /// <summary>Empties it.</summary>
    public void Clear()
    {
        Key.Clear();
        Arena.Clear();
        if (Hits.Length > MostKeptHits)
            Hits = new SortedHit[FirstHits];
    }
}
