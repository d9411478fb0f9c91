using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// A root kept under a name: the value of that name in the system tree.
/// <code>
/// OFFSET SIZE MEANING
///      0    1 kind: 1 named snapshot. Others are reserved for branches that continue from such a root
///      1    7 0
///      8    8 transaction whose state it is
///     16    8 creation time, milliseconds since 1970-01-01 UTC
///     24   32 record of the catalogue tree (see TreeRecord)
///     56    4 next tree id
///     60    4 0
/// </code>
/// </summary>
internal readonly record struct SnapshotRecord(long TransactionId, long CreatedMs, TreeRecord Catalogue, uint NextTreeId)
{
    public const int SizeBytes = 64;

    private const byte KindSnapshot = 1;
    private const long MaxCreatedMs = 253_402_300_799_999; // the end of the year 9999

    /// <summary>Whether the record is of a known kind.</summary>
    public static bool IsKnown(ReadOnlySpan<byte> source) => source.Length == 0 || source[0] is 0 or KindSnapshot;

    /// <summary>Decodes a record. Returns null if it is invalid.</summary>
    public static SnapshotRecord? TryRead(ReadOnlySpan<byte> source) => source.Length != SizeBytes || source[0] != KindSnapshot
        || TreeRecord.FindFault(source.Slice(24, TreeRecord.SizeBytes)) is not null
        || BinaryPrimitives.ReadInt64LittleEndian(source[8..]) < 0
        || BinaryPrimitives.ReadInt64LittleEndian(source[16..]) is < 0 or > MaxCreatedMs
        ? null
        : new SnapshotRecord(
            BinaryPrimitives.ReadInt64LittleEndian(source[8..]),
            BinaryPrimitives.ReadInt64LittleEndian(source[16..]),
            TreeRecord.Read(source[24..]),
            BinaryPrimitives.ReadUInt32LittleEndian(source[56..]));

    public void Write(Span<byte> destination)
    {
        destination[..SizeBytes].Clear();
        destination[0] = KindSnapshot;
        BinaryPrimitives.WriteInt64LittleEndian(destination[8..], TransactionId);
        BinaryPrimitives.WriteInt64LittleEndian(destination[16..], CreatedMs);
        Catalogue.Write(destination[24..]);
        BinaryPrimitives.WriteUInt32LittleEndian(destination[56..], NextTreeId);
    }
}
