using System.Buffers.Binary;
using System.Text;
using Treepie.Storage.Format;

namespace Treepie.Storage.Backups;

/// <summary>
/// A state of a store in a part; its pages follow.
/// <code>
/// OFFSET SIZE MEANING
///      0   16 store id
///     16    8 commit: transaction whose state it is
///     24    8 since: only pages born after this commit are in the part; -1: all pages
///     32    8 commit time, milliseconds since 1970-01-01 UTC; 0 if unknown
///     40    8 size of the store in pages (some of them free)
///     48    8 number of pages of the state
///     56    8 number of pages in the part
///     64   32 tree record of the catalogue
///     96   32 tree record of the system tree
///    128    4 next tree id
///    132    4 page size, 8,192
///    136    4 length of the name in bytes
///    140    4 number of named snapshots
///    144      name, UTF-8
/// </code>
/// </summary>
internal sealed record StoreRecord
{
    public const int HeadBytes = 144;
    public const int MaxNameBytes = 4096;

    public required Guid StoreId { get; init; }
    public required long Commit { get; init; }
    public required long Since { get; init; }
    public required long CommitMs { get; init; }
    public required long PageCount { get; init; }
    public required long LivePages { get; init; }
    public required long PagesHere { get; init; }
    public required TreeRecord Catalogue { get; init; }
    public required TreeRecord System { get; init; }
    public required uint NextTreeId { get; init; }
    public required int NamedSnapshots { get; init; }
    public required string Name { get; init; }

    /// <summary>Encodes the record. Returns its length in bytes.</summary>
    public int Write(Span<byte> destination)
    {
        destination[..HeadBytes].Clear();
        StoreId.TryWriteBytes(destination);
        BinaryPrimitives.WriteInt64LittleEndian(destination[16..], Commit);
        BinaryPrimitives.WriteInt64LittleEndian(destination[24..], Since);
        BinaryPrimitives.WriteInt64LittleEndian(destination[32..], CommitMs);
        BinaryPrimitives.WriteInt64LittleEndian(destination[40..], PageCount);
        BinaryPrimitives.WriteInt64LittleEndian(destination[48..], LivePages);
        BinaryPrimitives.WriteInt64LittleEndian(destination[56..], PagesHere);
        Catalogue.Write(destination[64..]);
        System.Write(destination[96..]);
        BinaryPrimitives.WriteUInt32LittleEndian(destination[128..], NextTreeId);
        BinaryPrimitives.WriteInt32LittleEndian(destination[132..], PageLayout.SizeBytes);
        int name = Encoding.UTF8.GetBytes(Name, destination.Slice(HeadBytes, MaxNameBytes));
        BinaryPrimitives.WriteInt32LittleEndian(destination[136..], name);
        BinaryPrimitives.WriteInt32LittleEndian(destination[140..], NamedSnapshots);
        return HeadBytes + name;
    }

    /// <summary>Decodes a record. Returns null if it is invalid.</summary>
    public static StoreRecord? TryRead(ReadOnlySpan<byte> source)
    {
        if (source.Length < HeadBytes
            || BinaryPrimitives.ReadInt32LittleEndian(source[136..]) != source.Length - HeadBytes
            || source.Length > HeadBytes + MaxNameBytes
            || BinaryPrimitives.ReadInt32LittleEndian(source[132..]) != PageLayout.SizeBytes
            || TreeRecord.FindFault(source.Slice(64, TreeRecord.SizeBytes)) is not null
            || TreeRecord.FindFault(source.Slice(96, TreeRecord.SizeBytes)) is not null)
            return null;

        var record = new StoreRecord
        {
            StoreId = new Guid(source[..16]),
            Commit = BinaryPrimitives.ReadInt64LittleEndian(source[16..]),
            Since = BinaryPrimitives.ReadInt64LittleEndian(source[24..]),
            CommitMs = BinaryPrimitives.ReadInt64LittleEndian(source[32..]),
            PageCount = BinaryPrimitives.ReadInt64LittleEndian(source[40..]),
            LivePages = BinaryPrimitives.ReadInt64LittleEndian(source[48..]),
            PagesHere = BinaryPrimitives.ReadInt64LittleEndian(source[56..]),
            Catalogue = TreeRecord.Read(source[64..]),
            System = TreeRecord.Read(source[96..]),
            NextTreeId = BinaryPrimitives.ReadUInt32LittleEndian(source[128..]),
            NamedSnapshots = BinaryPrimitives.ReadInt32LittleEndian(source[140..]),
            Name = Encoding.UTF8.GetString(source[HeadBytes..]),
        };
        return record.Commit < 0
            || record.Since < -1
            || record.Since > record.Commit
            || record.PageCount < FormatLimits.FirstDataPage
            || record.LivePages < 0
            || record.LivePages > record.PageCount || record.PagesHere < 0 || record.PagesHere > record.LivePages ? null : record;
    }
}
