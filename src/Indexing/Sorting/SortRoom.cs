namespace Treepie.Indexing.Sorting;

/// <summary>
/// The reusable buffers of a <see cref="HitSorter"/>, for one sorter at a time. Must be empty when passed to a sorter.
/// </summary>
internal sealed class SortRoom : IReusable
{
    private const int FirstHits = 16;

    /// <summary>
    /// Maximum size of a hit buffer that is kept, enough for a page of some hundreds. A larger one is released.
    /// </summary>
    private const int MostKeptHits = 512;

    /// <summary>Buffer for the key being written.</summary>
    public KeyBuffer Key { get; } = new();

    /// <summary>The keys of kept hits.</summary>
    public KeyArena Arena { get; } = new();

    /// <summary>The hits; the sorter replaces the array with a larger one as needed.</summary>
    public SortedHit[] Hits { get; set; } = new SortedHit[FirstHits];

    /// <summary>Clears all buffers.</summary>
    public void Clear()
    {
        Key.Clear();
        Arena.Clear();
        if (Hits.Length > MostKeptHits)
            Hits = new SortedHit[FirstHits];
    }
}
