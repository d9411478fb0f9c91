using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Treepie.Indexing.Terms;
using Treepie.Storage;

namespace Treepie.Indexing.Catalogue;

/// <summary>
/// Records of entries, several in one value of the tree: a key and a cell for each would take as much room as a record, and
/// neighbours have much in common. The key of the tree is the id of the first entry the block was made for (8 bytes, big-endian);
/// a block holds entries up to the key of the next. Read in place:
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
    /// <summary>
    /// Longest block of more than one entry: eight of them fill a leaf, and the last of it is found in as many steps as it has
    /// entries, some forty.
    /// </summary>
    public const int MaxBytes = 990;

    public const int StepFlag = 1;
    public const int HeadsFlag = 2;
    public const int OwnShift = 2;
    public const int MostOwn = 7;
    public const int LengthFlag = 32;

    /// <summary>Bytes of a key that are copied at once, however few are wanted of them.</summary>
    private const int CopiedBytes = sizeof(ulong);

    private readonly ReadOnlySpan<byte> bytes = bytes;
    private readonly Span<byte> keyRoom = keyRoom;
    private int keyLength;
    private int at;

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
        if (!Pass(out ReadOnlySpan<byte> items))
            return false;
        Items = items;
        return true;
    }

    /// <summary>
    /// Goes to an entry behind this one; false if the block has none of that id, and then it stands where that were, or at its
    /// end.
    /// </summary>
    /// <exception cref="CorruptionException">The block does not hold what it says.</exception>
    public bool MoveTo(long id)
    {
        // Whoever asks for one entry passes twenty: what is not needed of them is not kept.
        ReadOnlySpan<byte> items = default;
        do
        {
            PassPlain(id, ref items);
        }
        while (Id < id && Pass(out items));

        Items = items;
        return Id == id;
    }

    /// <summary>
    /// Passes entries up to that of an id as long as they are as most are: the id is the next, the key as long as the one before
    /// with few bytes of its own, the heads those before. What is otherwise, or damaged, is left to <see cref="Pass"/>.
    /// </summary>
    private void PassPlain(long id, ref ReadOnlySpan<byte> items)
    {
        const int Others = StepFlag | HeadsFlag | LengthFlag;
        (int next, long passed) = (at, Id);
        while (passed < id && bytes.Length - next > CopiedBytes)
        {
            int flags = bytes[next], own = flags >> OwnShift, shared = keyLength - own;
            if ((flags & Others) != 0 || own >= MostOwn || shared < 0 || keyRoom.Length - shared < CopiedBytes)
                break;

            int itemsAt = next + 1 + own, length = bytes[itemsAt++];
            if (length > sbyte.MaxValue || length > bytes.Length - itemsAt)
                break;

            MemoryMarshal.Write(keyRoom[shared..], MemoryMarshal.Read<ulong>(bytes[(next + 1)..]));
            items = bytes.Slice(itemsAt, length);
            next = itemsAt + length;
            passed++;
        }

        (at, Id) = (next, passed);
    }

    private bool Pass(out ReadOnlySpan<byte> items)
    {
        items = default;
        int next = at;
        if (next == bytes.Length)
            return false;

        int flags = bytes[next++];
        Id += (flags & StepFlag) != 0 ? ReadLong(ref next) : 1;
        int own = (flags >> OwnShift) & MostOwn;
        if (own == MostOwn)
            own = Read(ref next);
        int shared = (flags & LengthFlag) != 0 ? Read(ref next) : keyLength - own;
        if ((uint)shared > (uint)keyLength || (uint)own > (uint)Math.Min(bytes.Length - next, keyRoom.Length - shared))
            throw Damaged();
        if (own <= CopiedBytes && bytes.Length - next >= CopiedBytes && keyRoom.Length - shared >= CopiedBytes)
            MemoryMarshal.Write(keyRoom[shared..], MemoryMarshal.Read<ulong>(bytes[next..]));
        else
            bytes.Slice(next, own).CopyTo(keyRoom[shared..]);
        keyLength = shared + own;
        next += own;
        if ((flags & HeadsFlag) != 0)
            Heads = Take(ref next);
        items = Take(ref next);
        at = next;
        return true;
    }

    private readonly ReadOnlySpan<byte> Take(scoped ref int next)
    {
        int length = Read(ref next);
        if ((uint)length > (uint)(bytes.Length - next))
            throw Damaged();
        next += length;
        return bytes.Slice(next - length, length);
    }

    /// <summary>Most numbers are one byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private readonly int Read(scoped ref int next) =>
        next < bytes.Length && bytes[next] < 0x80 ? bytes[next++] : (int)ReadLong(ref next);

    private readonly long ReadLong(scoped ref int next)
    {
        ReadOnlySpan<byte> rest = bytes[next..];
        long value = Varint.ReadLong(ref rest);
        next = bytes.Length - rest.Length;
        return value;
    }

    private static CorruptionException Damaged() =>
        new("A block of entries in the index is damaged. Reset the index to build it again.");
}
