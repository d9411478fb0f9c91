using System.Buffers.Binary;
using Treepie.Indexing.Kernels;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Finds blocks of positions (see <see cref="PositionKey"/>) and remembers where those lie that were asked for: a phrase asks in
/// nearly every window for a block or two of each of its words, and a descent for each costs more than to compare what is there.
/// Good for one state of an index; one thread at a time.
/// </summary>
/// <param name="positions">The blocks of all lists of a dictionary.</param>
/// <remarks>
/// Memory: 48 bytes for each of up to <see cref="MaxPlaces"/> blocks, which are 384 KiB, and no more than four times as many as
/// were asked for. A block has two places at which it may be remembered, and those of one list lie there in the order in which
/// they are asked for.
/// </remarks>
internal sealed class PositionPlaces(Tree positions)
{
    /// <summary>Most blocks that are remembered.</summary>
    public const int MaxPlaces = 8_192;

    private const int FirstPlaces = 512;
    private const int GrowthFactor = 4;

    private Known[] known = [];
    private int count;

    /// <summary>The block of a list that begins at a rank of a segment.</summary>
    /// <param name="listId">The list.</param>
    /// <param name="segment">First window of the segment.</param>
    /// <param name="rank">First rank of the block.</param>
    /// <param name="postings">Gets the number it begins with: in a segment of one window, how many postings have their positions
    /// in it.</param>
    /// <returns>The block; it lives as long as the read transaction.</returns>
    /// <exception cref="CorruptionException">There is none.</exception>
    public ReadOnlySpan<byte> Read(long listId, long segment, int rank, out int postings) =>
        positions.ReadAt(PlaceOf(listId, segment, rank, out postings));

    /// <summary>As <see cref="Read"/>, where the block lies: what is known of it is not looked at again.</summary>
    public ValuePlace PlaceOf(long listId, long segment, int rank, out int postings)
    {
        positions.Visit(1); // for each one, whether its place was known or not
        int home = HomeOf(listId, segment, rank);
        long key = KeyOf(segment, rank);
        if (!IsAt(home, listId, key, out int index) && !IsAt(home + OtherOf(listId), listId, key, out index))
            return Find(listId, segment, rank, out postings);
        postings = known[index].Postings;
        return known[index].Place;
    }

    /// <summary>The block at a place that <see cref="PlaceOf"/> gave.</summary>
    public ReadOnlySpan<byte> ReadAt(ValuePlace place) => positions.ReadAt(place);

    /// <summary>Where the block at a place will be read, to ask for parts of it; see <see cref="Tree.Expect"/>.</summary>
    public ReadOnlySpan<byte> Expect(ValuePlace place) => positions.Expect(place);

    /// <summary>Asks for what is known of the first blocks of a segment.</summary>
    public void Prefetch(long listId, long segment)
    {
        if (known.Length > 0)
            PrefetchKernels.Prefetch(in known[HomeOf(listId, segment, 0) & (known.Length - 1)]);
    }

    private static long KeyOf(long segment, int rank) => (segment << PostingWindow.SizeBits) + rank;

    private ValuePlace Find(long listId, long segment, int rank, out int postings)
    {
        Span<byte> key = stackalloc byte[PositionKey.Bytes];
        PositionKey.Write(key, listId, segment, rank);
        if (!positions.TryLocate(key, out ValuePlace place) || place.Length < sizeof(ushort))
            throw new CorruptionException(
                $"The index misses the positions of list {listId} from window {segment}, posting {rank} on. Reset the index to "
                    + $"build it again.");

        postings = BinaryPrimitives.ReadUInt16LittleEndian(positions.ReadAt(place));
        if (count >= known.Length / 2 && known.Length < MaxPlaces)
            Grow();
        Keep(new Known(listId, KeyOf(segment, rank), place, (ushort)postings));
        return place;
    }

    /// <summary>Whether a block is remembered at a place, and that place in the table.</summary>
    private bool IsAt(int place, long listId, long key, out int index)
    {
        index = place & (known.Length - 1);
        if (known.Length == 0)
            return false;
        ref readonly Known there = ref known[index];
        return there.Key == key && there.ListId == listId && there.IsThere;
    }

    /// <summary>
    /// Remembers a block: at the first of its two places if that is free, else at the second, whatever is there.
    /// </summary>
    private void Keep(Known found)
    {
        int home = HomeOf(found.ListId, found.Key >> PostingWindow.SizeBits, (int)found.Key & (PostingWindow.Size - 1)),
            mask = known.Length - 1;
        ref Known place = ref known[home & mask];
        if (place.IsThere)
            place = ref known[(home + OtherOf(found.ListId)) & mask];
        count += place.IsThere ? 0 : 1;
        place = found;
    }

    private void Grow()
    {
        Known[] old = known;
        known = new Known[Math.Max(FirstPlaces, old.Length * GrowthFactor)];
        count = 0;
        foreach (Known found in old)
        {
            if (found.IsThere)
                Keep(found);
        }
    }

    /// <summary>
    /// The first place of a block. Of a window there are hardly ever more than four blocks: the first two have places of their
    /// own, others those of windows far away.
    /// </summary>
    private static int HomeOf(long listId, long segment, int rank) =>
        (int)((ulong)listId * 0x9E3779B97F4A7C15 >> 40) + ((int)segment << 1) + (rank == 0 ? 0 : 1) + (rank >> 11 << 9);

    /// <summary>How far the second place of the blocks of a list is from the first.</summary>
    private static int OtherOf(long listId) => (int)((ulong)listId * 0xD6E8FEB86659FD93 >> 40) | 1;

    /// <summary>Where a block is.</summary>
    /// <param name="ListId">Its list.</param>
    /// <param name="Key">First window of its segment, and its first rank.</param>
    /// <param name="Place">The place.</param>
    /// <param name="Postings">The number it begins with.</param>
    private readonly record struct Known(long ListId, long Key, ValuePlace Place, ushort Postings)
    {
        public bool IsThere => Place.Length > 0;
    }
}
