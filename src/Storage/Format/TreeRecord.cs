using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// The root and size of a tree: the value of its name in the catalogue. The record of the catalogue is in the meta page.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 root page; 0 for an empty tree
///      8    8 birth of the root page
///     16    8 number of keys
///     24    4 tree id
///     28    1 number of levels: 0 empty, 1 a single leaf; for a map: levels of its directory
///     29    1 kind: 1 B+tree, 2 hash map
///     30    2 0
/// </code>
/// </summary>
internal readonly record struct TreeRecord(uint Id, PageReference Root, int Levels, long Count)
{
    public const int SizeBytes = 32;
    public const uint CatalogueId = 1;

    /// <summary>The tree of the store's own metadata: see <see cref="SystemKey"/>.</summary>
    public const uint SystemId = 2;

    /// <summary>The id of the first tree of a store.</summary>
    public const uint FirstId = 3;

    /// <summary>The limit for 2^48 pages with two children each. Real trees have five levels.</summary>
    public const int MaxLevels = 48;

    /// <summary>The kind of the tree.</summary>
    public TreeKind Kind { get; init; } = TreeKind.Tree;

    public static TreeRecord Empty(uint id) => new(id, default, 0, 0);

    public static TreeRecord Read(ReadOnlySpan<byte> source) => new(
        BinaryPrimitives.ReadUInt32LittleEndian(source[24..]),
        new PageReference(BinaryPrimitives.ReadInt64LittleEndian(source), BinaryPrimitives.ReadInt64LittleEndian(source[8..])),
        source[28],
        BinaryPrimitives.ReadInt64LittleEndian(source[16..]))
    {
        Kind = (TreeKind)source[29],
    };

    /// <summary>Returns the fault of a record, or null.</summary>
    public static string? FindFault(ReadOnlySpan<byte> source)
    {
        if (source.Length != SizeBytes)
            return $"a record of {source.Length} bytes";

        TreeRecord record = Read(source);
        if (record.Levels > MaxLevels || record.Count < 0 || record.Root.Birth < 0)
            return $"{record.Levels} levels, {record.Count} keys, born {record.Root.Birth}";
        return record.Levels == 0
            ? record.Root.IsNone ? null : "a root but no levels"
            : record.Root.Number < FormatLimits.FirstDataPage ? $"{record.Levels} levels below page {record.Root.Number}" : null;
    }

    public void Write(Span<byte> destination)
    {
        destination[..SizeBytes].Clear();
        BinaryPrimitives.WriteInt64LittleEndian(destination, Root.Number);
        BinaryPrimitives.WriteInt64LittleEndian(destination[8..], Root.Birth);
        BinaryPrimitives.WriteInt64LittleEndian(destination[16..], Count);
        BinaryPrimitives.WriteUInt32LittleEndian(destination[24..], Id);
        destination[28] = (byte)Levels;
        destination[29] = (byte)Kind;
    }
}
