using System.Buffers.Binary;
using System.Text;

namespace Treepie.Storage.Format;

/// <summary>
/// Keys of the system tree, which holds the store's own metadata beside the catalogue. Numbers in keys are big-endian.
/// <code>
/// KEY                                    VALUE
/// 1, name in UTF-8                       a root kept under that name (see SnapshotRecord)
/// 2, holder (8), freed (8), chunk (4)    runs of pages used by named snapshots but not by the current state: `holder` is the
///                                        transaction of the newest such snapshot, `freed` the transaction that freed them.
///                                        16 bytes each: 6 first page, 6 birth, 4 number of pages
/// 3                                      total number of pages in those runs (8, little-endian)
/// </code>
/// </summary>
internal static class SystemKey
{
    public const byte Name = 1;
    public const byte Pinned = 2;
    public const byte PinnedTotal = 3;

    public const int PinnedBytes = 1 + sizeof(long) + sizeof(long) + sizeof(uint);
    public const int RunBytes = PageReference.PackedBytes + sizeof(int);

    /// <summary>
    /// The maximum number of runs under one key. They fit into the leaf, so changing them needs no overflow run.
    /// </summary>
    public const int MaxRuns = 100;

    public static byte[] OfName(string name)
    {
        var key = new byte[1 + Encoding.UTF8.GetByteCount(name)];
        key[0] = Name;
        Encoding.UTF8.GetBytes(name, key.AsSpan(1));
        return key;
    }

    public static byte[] OfPinned(long holder, long freed, uint chunk)
    {
        var key = new byte[PinnedBytes];
        key[0] = Pinned;
        BinaryPrimitives.WriteInt64BigEndian(key.AsSpan(1), holder);
        BinaryPrimitives.WriteInt64BigEndian(key.AsSpan(9), freed);
        BinaryPrimitives.WriteUInt32BigEndian(key.AsSpan(17), chunk);
        return key;
    }

    public static bool IsPinned(ReadOnlySpan<byte> key) => key.Length == PinnedBytes && key[0] == Pinned;

    public static long HolderOf(ReadOnlySpan<byte> pinned) => BinaryPrimitives.ReadInt64BigEndian(pinned[1..]);

    public static long FreedOf(ReadOnlySpan<byte> pinned) => BinaryPrimitives.ReadInt64BigEndian(pinned[9..]);

    public static uint ChunkOf(ReadOnlySpan<byte> pinned) => BinaryPrimitives.ReadUInt32BigEndian(pinned[17..]);
}
