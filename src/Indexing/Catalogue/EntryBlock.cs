using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Treepie.Indexing.Terms;
using Treepie.Storage;

namespace Treepie.Indexing.Catalogue;

/// <summary>
/// Records of several entries in one value of the tree, because a key and a cell for each would take as much space as a record,
/// and neighbouring records have much in common. The key in the tree is the id of the first entry for which the block was
/// created (8 bytes, big-endian); a block covers entries up to the key of the next. Read in place, from a restart if one is
/// nearer than the beginning:
/// <code>
/// if there are more than <see cref="RestartEvery"/> entries:
///   1 byte: 128 + number of restarts
///   for each restart, one before every <see cref="RestartEvery"/> entries; little-endian:
///     2 offset of the entry
///     2 offset of the heads that apply to it (their length), or 0 for none
///     4 id of the previous entry − key of the block
/// for each entry, ids ascending; an entry at a restart shares no key bytes with the previous one:
///   1 byte: 1 if the id does not directly follow the previous one (for the first: differs from the key of the block),
///         2 if heads follow, 4 · own key bytes up to 6, or 7 for more, 32 if the key length differs from the previous one
///   in these cases: id − previous id (varint), own key bytes (varint), key bytes shared with the previous key (varint)
/// the own key bytes, which follow the shared ones
/// if heads follow: their length (varint), heads; otherwise the heads of the previous entry apply
/// length of the items (varint), items: see EntryRecord
/// </code>
/// </summary>
internal ref struct EntryBlock
{
    /// <summary>Longest block of more than one entry: a leaf holds eight.</summary>
    public const int MaxBytes = 990;

    /// <summary>
    /// Entries between two restarts: finding an entry takes at most this many steps. A block has about forty entries, and a
    /// restart takes about twenty bytes.
    /// </summary>
    public const int RestartEvery = 8;

    public const int RestartsFlag = 128;
    public const int RestartBytes = 8;

    public const int StepFlag = 1;
    public const int HeadsFlag = 2;
    public const int OwnShift = 2;
    public const int MostOwn = 7;
    public const int LengthFlag = 32;

    /// <summary>Bytes of a key that are copied at once, even if fewer are needed.</summary>
    private const int CopiedBytes = sizeof(ulong);

    private readonly ReadOnlySpan<byte> _bytes;
    private readonly Span<byte> _keyRoom;
    private readonly long _firstId;
    private readonly int _restarts;
    private int _keyLength;
    private int _headsAt;
    private int _headsLength;
    private int _at;

    /// <summary>Begins before the first entry of a block.</summary>
    /// <param name="bytes">The value.</param>
    /// <param name="firstId">The key of the block.</param>
    /// <param name="keyRoom">Buffer that can hold the longest key.</param>
    /// <exception cref="CorruptionException">The block is damaged.</exception>
    public EntryBlock(ReadOnlySpan<byte> bytes, long firstId, Span<byte> keyRoom)
    {
        _bytes = bytes;
        _keyRoom = keyRoom;
        _firstId = firstId;
        Id = firstId - 1;
        _restarts = CountRestarts(bytes);
        _at = HeaderBytes(_restarts);
    }

    /// <summary>
    /// Whether the block may be read on from its current entry to another: that is so near that no restart is needed.
    /// </summary>
    public static bool IsNear(long from, long to) => to > from && to - from <= RestartEvery;

    /// <summary>Where the block stands, for <see cref="Resume"/>.</summary>
    public readonly EntryPlace Place => new(_firstId, Id, _at, _keyLength, _headsAt, _headsLength);

    /// <summary>
    /// Goes on where an earlier reader of the same block stood, whose buffer still has the key of its entry.
    /// </summary>
    public void Resume(EntryPlace place)
    {
        Debug.Assert(place.FirstId == _firstId && place.At <= _bytes.Length, "it is the same block");
        (Id, _at, _keyLength) = (place.Id, place.At, place.KeyLength);
        (_headsAt, _headsLength) = (place.HeadsAt, place.HeadsLength);
    }

    /// <summary>Length of the header of a block with this many restarts.</summary>
    public static int HeaderBytes(int restarts) => restarts == 0 ? 0 : 1 + (restarts * RestartBytes);

    /// <summary>Writes a restart.</summary>
    /// <param name="block">The block.</param>
    /// <param name="index">The index of the restart.</param>
    /// <param name="offset">Offset of its entry in the block.</param>
    /// <param name="headsOffset">Offset of the heads that apply to its entry; 0 for none.</param>
    /// <param name="idsBefore">Id of the previous entry − key of the block.</param>
    public static void WriteRestart(Span<byte> block, int index, int offset, int headsOffset, uint idsBefore)
    {
        Span<byte> restart = block.Slice(1 + (index * RestartBytes), RestartBytes);
        BinaryPrimitives.WriteUInt16LittleEndian(restart, (ushort)offset);
        BinaryPrimitives.WriteUInt16LittleEndian(restart[sizeof(ushort)..], (ushort)headsOffset);
        BinaryPrimitives.WriteUInt32LittleEndian(restart[(2 * sizeof(ushort))..], idsBefore);
    }

    /// <summary>Id of the current entry.</summary>
    public long Id { get; private set; }

    /// <summary>Its key, in the buffer passed to the constructor.</summary>
    public readonly ReadOnlySpan<byte> Key => _keyRoom[.._keyLength];

    /// <summary>The heads of its groups.</summary>
    public readonly ReadOnlySpan<byte> Heads => _bytes.Slice(_headsAt, _headsLength);

    /// <summary>The items of its groups.</summary>
    public ReadOnlySpan<byte> Items { get; private set; }

    /// <summary>Moves to the next entry; false after the last.</summary>
    /// <exception cref="CorruptionException">The block is damaged.</exception>
    public bool MoveNext()
    {
        if (!Pass(out ReadOnlySpan<byte> items))
            return false;
        Items = items;
        return true;
    }

    /// <summary>
    /// Moves forward to an entry. Returns false if the block does not have it, and is then on the next greater entry or at
    /// the end.
    /// </summary>
    /// <exception cref="CorruptionException">The block is damaged.</exception>
    public bool MoveTo(long id)
    {
        GoToRestart(id);

        // Only the last entry's items are needed, so entries on the way do not store theirs.
        ReadOnlySpan<byte> items = default;
        do
        {
            PassPlain(id, ref items);
        }
        while (Id < id && Pass(out items));

        Items = items;
        return Id == id;
    }

    /// <summary>Moves to the last restart before an entry, unless that is before the current position.</summary>
    private void GoToRestart(long id)
    {
        for (int i = _restarts - 1; i >= 0; i--)
        {
            ReadOnlySpan<byte> restart = _bytes.Slice(1 + (i * RestartBytes), RestartBytes);
            long before = _firstId + BinaryPrimitives.ReadUInt32LittleEndian(restart[(2 * sizeof(ushort))..]);
            if (before >= id)
                continue;

            int offset = BinaryPrimitives.ReadUInt16LittleEndian(restart);
            if (offset <= _at)
                return;
            int headsAt = BinaryPrimitives.ReadUInt16LittleEndian(restart[sizeof(ushort)..]);
            if (offset >= _bytes.Length || headsAt >= offset || before <= Id)
                throw Damaged();
            (_at, Id, _keyLength) = (offset, before, 0);
            if (headsAt == 0)
                (_headsAt, _headsLength) = (0, 0);
            else
                TakeHeads(ref headsAt);
            return;
        }
    }

    /// <summary>
    /// Skips entries up to an id while they have the usual form: consecutive id, key of the same length with few own bytes, same
    /// heads. Any other form, or damage, is left to <see cref="Pass"/>.
    /// </summary>
    private void PassPlain(long id, ref ReadOnlySpan<byte> items)
    {
        const int Others = 0xFF & ~((1 << OwnShift) * MostOwn), Most = MostOwn << OwnShift;
        ReadOnlySpan<byte> all = _bytes;
        int end = _keyLength;
        if (end < MostOwn || _keyRoom.Length - end < CopiedBytes)
            return;
        Span<byte> room = _keyRoom[(end - MostOwn)..(end + CopiedBytes)];
        (int next, long passed, int itemsAt, int length) = (_at, Id, 0, -1);
        while (passed < id && all.Length - next > CopiedBytes)
        {
            int flags = all[next], own = flags >> OwnShift;
            if ((flags & Others) != 0 || flags == Most)
                break;
            int lengthAt = next + 1 + own, itemBytes = all[lengthAt];
            if (itemBytes > sbyte.MaxValue || itemBytes > all.Length - lengthAt - 1)
                break;
            MemoryMarshal.Write(room[(MostOwn - own)..], MemoryMarshal.Read<ulong>(all[(next + 1)..]));
            (itemsAt, length) = (lengthAt + 1, itemBytes);
            next = itemsAt + length;
            passed++;
        }

        Debug.Assert(next <= _bytes.Length && passed >= Id, "entries are skipped forward, within the block");
        (_at, Id) = (next, passed);
        if (length >= 0)
            items = all.Slice(itemsAt, length);
    }

    private bool Pass(out ReadOnlySpan<byte> items)
    {
        items = default;
        int next = _at;
        if (next == _bytes.Length)
            return false;

        int flags = _bytes[next++];
        Id += (flags & StepFlag) != 0 ? ReadLong(ref next) : 1;
        int own = (flags >> OwnShift) & MostOwn;
        if (own == MostOwn)
            own = Read(ref next);
        int shared = (flags & LengthFlag) != 0 ? Read(ref next) : _keyLength - own;
        if ((uint)shared > (uint)_keyLength || (uint)own > (uint)Math.Min(_bytes.Length - next, _keyRoom.Length - shared))
            throw Damaged();
        if (own <= CopiedBytes && _bytes.Length - next >= CopiedBytes && _keyRoom.Length - shared >= CopiedBytes)
            MemoryMarshal.Write(_keyRoom[shared..], MemoryMarshal.Read<ulong>(_bytes[next..]));
        else
            _bytes.Slice(next, own).CopyTo(_keyRoom[shared..]);
        _keyLength = shared + own;
        next += own;
        if ((flags & HeadsFlag) != 0)
            TakeHeads(ref next);
        items = Take(ref next);
        _at = next;
        return true;
    }

    private static int CountRestarts(ReadOnlySpan<byte> bytes)
    {
        int count = bytes.Length > 0 && bytes[0] >= RestartsFlag ? bytes[0] - RestartsFlag : 0;
        return HeaderBytes(count) <= bytes.Length ? count : throw Damaged();
    }

    /// <summary>Moves over heads, which apply from here on.</summary>
    private void TakeHeads(scoped ref int next)
    {
        _headsLength = Take(ref next).Length;
        _headsAt = next - _headsLength;
    }

    private readonly ReadOnlySpan<byte> Take(scoped ref int next)
    {
        int length = Read(ref next);
        if ((uint)length > (uint)(_bytes.Length - next))
            throw Damaged();
        next += length;
        return _bytes.Slice(next - length, length);
    }

    /// <summary>Reads a varint. Most take one byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private readonly int Read(scoped ref int next) =>
        next < _bytes.Length && _bytes[next] < 0x80 ? _bytes[next++] : (int)ReadLong(ref next);

    private readonly long ReadLong(scoped ref int next)
    {
        ReadOnlySpan<byte> rest = _bytes[next..];
        long value = Varint.ReadLong(ref rest);
        next = _bytes.Length - rest.Length;
        return value;
    }

    private static CorruptionException Damaged() =>
        new("A block of entries in the index is damaged. Reset the index to build it again.");
}
