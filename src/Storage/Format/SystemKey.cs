using System.Buffers.Binary;
using System.Text;

namespace Treepie.Storage.Format;

/// <summary>
/// Keys of the system tree, which stands beside the catalogue: what the store itself has to remember. Numbers in keys are
/// big-endian.
/// <code>
/// KEY                                    VALUE
/// 1, name in UTF-8                       a root kept under that name (see SnapshotRecord)
/// 2, holder (8), freed (8), chunk (4)    runs of pages that the state no longer uses and that a named snapshot sees: the newest one that
///                                        does is the snapshot of transaction `holder`; they were freed by transaction `freed`. 16 bytes each:
///                                        6 first page, 6 birth, 4 pages
/// 3                                      pages in all those runs (8, little-endian)
/// </code>
/// </summary>
internal static class SystemKey
{
    public const byte Name = 1;
    public const byte Pinned = 2;
    public const byte PinnedTotal = 3;

    public const int PinnedBytes = 1 + sizeof(long) + sizeof(long) + sizeof(uint);
    public const int RunBytes = PageReference.PackedBytes + sizeof(int);

    /// <summary>Most runs under one key: they lie in the leaf, so that changing them needs no pages side by side.</summary>
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
