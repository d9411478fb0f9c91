using Treepie.Indexing.Terms;
using Treepie.Storage;

namespace Treepie.Indexing.Catalogue;

/// <summary>
/// Records of entries, several in one value of the tree: a key and a cell for each would take as much room as a record, and neighbours have much in common. The key of the tree is the id of the
/// first entry the block was made for (8 bytes, big-endian); a block holds entries up to the key of the next. Read in place:
/// <code>
/// for each entry, ids ascending:
///   1 byte: 1 if the id is not the next after that before (of the first: not the key of the block), 2 if heads follow, 4 · bytes of the key of its own up to 6, 7 for more,
///           32 if the key is not as long as the one before
///   where they are so: id less that before (varint), bytes of the key of its own (varint), bytes of the key that are those of the one before (varint)
///   bytes of the key of its own; the others are those of the key before
///   where heads follow: their bytes (varint), heads; otherwise they are those of the entry before
///   bytes of the items (varint), items: see EntryRecord
/// </code>
/// </summary>
/// <param name="bytes">The value.</param>
/// <param name="firstId">The id of the key.</param>
/// <param name="keyRoom">Room for the longest key.</param>
internal ref struct EntryBlock(ReadOnlySpan<byte> bytes, long firstId, Span<byte> keyRoom)
{
    /// <summary>Longest block of more than one entry: eight of them fill a leaf, and the last of it is found in as many steps as it has entries, some forty.</summary>
    public const int MaxBytes = 990;

    public const int StepFlag = 1;
    public const int HeadsFlag = 2;
    public const int OwnShift = 2;
    public const int MostOwn = 7;
    public const int LengthFlag = 32;

    private readonly Span<byte> keyRoom = keyRoom;
    private ReadOnlySpan<byte> rest = bytes;
    private int keyLength;

    /// <summary>Id of the entry moved to.</summary>
    public long Id { get; private set; } = firstId - 1;

    /// <summary>Its key, in the room given.</summary>
    public readonly ReadOnlySpan<byte> Key => keyRoom[..keyLength];

    /// <summary>Heads of its groups.</summary>
    public ReadOnlySpan<byte> Heads { get; private set; }

    /// <summary>Their items.</summary>
    public ReadOnlySpan<byte> Items { get; private set; }

    /// <summary>Goes to the next entry.</summary>
    /// <exception cref="CorruptionException">The block does not hold what it says.</exception>
    public bool MoveNext()
    {
        if (rest.IsEmpty)
            return false;

        int flags = rest[0];
        rest = rest[1..];
        Id += (flags & StepFlag) != 0 ? Varint.ReadLong(ref rest) : 1;
        int own = (flags >> OwnShift) & MostOwn;
        if (own == MostOwn)
            own = Varint.Read(ref rest);
        int shared = (flags & LengthFlag) != 0 ? Varint.Read(ref rest) : keyLength - own;
        if ((uint)shared > (uint)keyLength || (uint)own > (uint)Math.Min(rest.Length, keyRoom.Length - shared))
            throw Damaged();
        rest[..own].CopyTo(keyRoom[shared..]);
        keyLength = shared + own;
        rest = rest[own..];
        if ((flags & HeadsFlag) != 0)
            Heads = Take();
        Items = Take();
        return true;
    }

    private ReadOnlySpan<byte> Take()
    {
        int length = Varint.Read(ref rest);
        if ((uint)length > (uint)rest.Length)
            throw Damaged();
        ReadOnlySpan<byte> taken = rest[..length];
        rest = rest[length..];
        return taken;
    }

    private static CorruptionException Damaged() => new("A block of entries in the index is damaged. Reset the index to build it again.");
}
