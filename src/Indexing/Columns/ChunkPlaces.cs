using System.Numerics;
using Treepie.Indexing.Catalogue;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Reads chunks of a column by number, in any order, and remembers where those lie that were read last: hits of a rare word lie
/// all over it, and a descent for each would cost more than everything else that is done about it. Good for one state of the
/// index; one thread at a time.
/// </summary>
/// <param name="column">The column; null: it has no chunk.</param>
/// <remarks>Memory: 40 bytes for each of 1,024 chunks at the most, which are 29 million entries, and half a kibibyte.</remarks>
internal sealed class ChunkPlaces(Tree? column)
{
    private const int FirstPlaces = 64;
    private const int MaxPlaces = 1_024;

    /// <summary>Chunks that are read from the disk together, where they have to be: a mebibyte of lengths.</summary>
    private const int AnnouncedBits = 5;

    /// <summary>As many of these are remembered as asked for: windows are not visited in their order.</summary>
    private const int AnnouncedGroups = 64;

    private Known[] known = [];
    private long[] announced = [];
    private bool isAnnounced;

    /// <summary>The bytes of the chunk, empty if there is none. They live as long as the read transaction.</summary>
    public ReadOnlySpan<byte> Read(long chunk)
    {
        Known[] places = known;
        if (places.Length > 0)
        {
            ref readonly Known place = ref places[(int)chunk & (places.Length - 1)];
            if (place.Chunk == chunk + 1)
                return column!.ReadAt(place.Place); // it is where the place came from
        }

        return Find(chunk);
    }

    /// <summary>
    /// Has the system begin to read all chunks, where they are not in memory: for who is going to look at most of them, and has
    /// other things to look at before. Waits for their places only.
    /// </summary>
    public void Announce()
    {
        if (isAnnounced || column is null)
            return;
        isAnnounced = true;
        long groups = (column.Count >> AnnouncedBits) + 1;
        for (long group = 0; group < Math.Min(groups, AnnouncedGroups); group++)
            Announce(column, group);
    }

    /// <summary>Chunks there are.</summary>
    public long Count => column?.Count ?? 0;

    /// <summary>Counts the page of a chunk as entered: one for each, whether its place was known or not.</summary>
    public void Visit() => column?.Visit(1);

    private ReadOnlySpan<byte> Find(long chunk)
    {
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        if (column is null)
            return default;

        Announce(column, chunk >> AnnouncedBits);
        EntryKey.Write(key, chunk);
        if (!column.TryLocate(key, out ValuePlace place))
            return default;

        if (known.Length == 0)
            known = new Known[Math.Clamp(
                (int)BitOperations.RoundUpToPowerOf2((uint)Math.Min(column.Count, MaxPlaces)), FirstPlaces, MaxPlaces)];
        known[(int)chunk & (known.Length - 1)] = new Known(chunk + 1, place);
        return column.ReadAt(place);
    }

    private void Announce(Tree chunks, long group)
    {
        if (announced.Length == 0)
            announced = new long[AnnouncedGroups];
        ref long asked = ref announced[(int)group & (AnnouncedGroups - 1)];
        if (asked == group + 1)
            return;
        asked = group + 1;
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, group << AnnouncedBits);
        chunks.AnnounceRuns(key, 1 << AnnouncedBits);
    }

    /// <summary>Where a chunk is.</summary>
    /// <param name="Chunk">Its number + 1; 0: none.</param>
    /// <param name="Place">The place.</param>
    private readonly record struct Known(long Chunk, ValuePlace Place);
}
