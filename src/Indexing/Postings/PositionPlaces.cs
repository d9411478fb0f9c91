using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Locates blocks of positions (see <see cref="PositionKey"/>) and caches the locations: a phrase reads a block or two of each of
/// its words in nearly every window, and a tree descent for each costs more than comparing the positions. Valid for one state of
/// an index; one thread at a time.
/// </summary>
/// <param name="positions">The blocks of all lists of a dictionary.</param>
/// <remarks>
/// Memory: 48 bytes for each of up to <see cref="MaxPlaces"/> slots (384 KiB), and at most four times as many slots as
/// blocks located. A block has two possible slots. The slots of a list follow the order in which its blocks are requested.
/// </remarks>
internal sealed class PositionPlaces(Tree positions)
{
    /// <summary>Most slots of the cache: a power of 2.</summary>
    public const int MaxPlaces = 8_192;

    private const int FirstPlaces = 512;
    private const int GrowthFactor = 4;

    private Known[] _known = [];
    private int _count;

    /// <summary>Returns the block of a list that begins at a rank of a segment.</summary>
    /// <param name="listId">The list.</param>
    /// <param name="segment">First window of the segment.</param>
    /// <param name="rank">First rank of the block.</param>
    /// <param name="postings">The number at the start of the block: in a segment of one window, its number of
    /// postings.</param>
    /// <returns>The block; valid as long as the read transaction.</returns>
    /// <exception cref="CorruptionException">There is no such block.</exception>
    public ReadOnlySpan<byte> Read(long listId, long segment, int rank, out int postings) =>
        positions.ReadAt(PlaceOf(listId, segment, rank, out postings));

    /// <summary>Like <see cref="Read"/>, but returns the location. A cached location takes no tree descent.</summary>
    public ValuePlace PlaceOf(long listId, long segment, int rank, out int postings)
    {
        positions.Visit(1); // count every block, cached or not
        int home = HomeOf(listId, segment, rank);
        long key = KeyOf(segment, rank);
        if (!IsAt(home, listId, key, out int index) && !IsAt(home + OtherOf(listId), listId, key, out index))
            return Find(listId, segment, rank, out postings);
        postings = _known[index].Postings;
        return _known[index].Place;
    }

    /// <summary>Returns the block at a location that <see cref="PlaceOf"/> returned.</summary>
    public ReadOnlySpan<byte> ReadAt(ValuePlace place) => positions.ReadAt(place);

    /// <summary>
    /// Returns the bytes of the block at a location so that parts of them can be prefetched; see <see cref="Tree.Expect"/>.
    /// </summary>
    public ReadOnlySpan<byte> Expect(ValuePlace place) => positions.Expect(place);

    /// <summary>Prefetches the cache slots of the first blocks of a segment.</summary>
    public void Prefetch(long listId, long segment)
    {
        if (_known.Length > 0)
            PrefetchKernels.Prefetch(in _known[HomeOf(listId, segment, 0) & (_known.Length - 1)]);
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
        if (_count >= _known.Length / 2 && _known.Length < MaxPlaces)
            Grow();
        Keep(new Known(listId, KeyOf(segment, rank), place, (ushort)postings));
        return place;
    }

    /// <summary>Whether a block is cached in a slot, and the index of that slot.</summary>
    private bool IsAt(int place, long listId, long key, out int index)
    {
        index = place & (_known.Length - 1);
        if (_known.Length == 0)
            return false;
        ref readonly Known there = ref _known[index];
        return there.Key == key && there.ListId == listId && there.IsThere;
    }

    /// <summary>
    /// Caches a block in the first of its two slots if that is free, otherwise in the second, replacing its content.
    /// </summary>
    private void Keep(Known found)
    {
        Debug.Assert(found.IsThere, "a located block has bytes");
        Debug.Assert(_known.Length > 0, "the cache has slots before a block is kept");
        int home = HomeOf(found.ListId, found.Key >> PostingWindow.SizeBits, (int)found.Key & (PostingWindow.Size - 1)),
            mask = _known.Length - 1;
        ref Known place = ref _known[home & mask];
        if (place.IsThere)
            place = ref _known[(home + OtherOf(found.ListId)) & mask];
        _count += place.IsThere ? 0 : 1;
        place = found;
        Debug.Assert(_count <= _known.Length, "a slot holds one block");
    }

    private void Grow()
    {
        Known[] old = _known;
        _known = new Known[Math.Max(FirstPlaces, old.Length * GrowthFactor)];
        Debug.Assert(BitOperations.IsPow2(_known.Length) && _known.Length <= MaxPlaces, "slots are a bounded power of 2");
        _count = 0;
        foreach (Known found in old)
        {
            if (found.IsThere)
                Keep(found);
        }
    }

    /// <summary>
    /// The first slot of a block. A window rarely has more than four blocks: the first two have slots of their own, others share
    /// those of distant windows.
    /// </summary>
    private static int HomeOf(long listId, long segment, int rank) =>
        (int)((ulong)listId * 0x9E3779B97F4A7C15 >> 40) + ((int)segment << 1) + (rank == 0 ? 0 : 1) + (rank >> 11 << 9);

    /// <summary>Distance from the first to the second slot of a list's blocks.</summary>
    private static int OtherOf(long listId) => (int)((ulong)listId * 0xD6E8FEB86659FD93 >> 40) | 1;

    /// <summary>A cached location of a block.</summary>
    /// <param name="ListId">Its list.</param>
    /// <param name="Key">The first window of its segment, and its first rank; see <see cref="KeyOf"/>.</param>
    /// <param name="Place">Where it is.</param>
    /// <param name="Postings">The number at its start.</param>
    private readonly record struct Known(long ListId, long Key, ValuePlace Place, ushort Postings)
    {
        public bool IsThere => Place.Length > 0;
    }
}
