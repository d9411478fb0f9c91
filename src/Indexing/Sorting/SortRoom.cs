namespace Treepie.Indexing.Sorting;

/// <summary>
/// The buffers that a <see cref="HitSorter"/> works in: one sorter at a time has them, and the next finds them empty.
/// </summary>
internal sealed class SortRoom : IReusable
{
    private const int FirstHits = 16;

    /// <summary>Hits of which the room is kept: a page of some hundreds. With more it is given up.</summary>
    private const int MostKeptHits = 512;

    /// <summary>Where a key is written.</summary>
    public KeyBuffer Key { get; } = new();

    /// <summary>Where kept keys are.</summary>
    public KeyArena Arena { get; } = new();

    /// <summary>The hits; the sorter puts a larger array in its place.</summary>
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
