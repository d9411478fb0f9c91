using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// Pages 0 and 1, written alternately: the newer one with a matching checksum is the last durable checkpoint. Each half of a
/// page holds a copy of the record, so that rewriting the page never leaves it without a valid copy, and a damaged sector
/// does not set the store back.
/// <code>
/// OFFSET SIZE MEANING (in each half of 4,096 bytes)
///      0   64 page header, type Meta, birth = last transaction of the checkpoint, checksum of the half
///     64    8 "TREEPIE1"
///     72    4 format version
///     76    4 page size
///     80   16 store id
///     96    8 number of this checkpoint; even ones are in page 0, odd ones in page 1
///    104    8 last transaction
///    112    8 size of the data file in pages (those beyond were never allocated)
///    120   32 record of the catalogue tree (see TreeRecord)
///    152    4 next tree id
///    156    4 flags: bit 0 = closed cleanly, no journal follows; bit 1 = encrypted. Refuse to open if unknown bits are set
///    160    8 journal: number of the file use that holds the first frame after this checkpoint; 0 = none yet
///    168    8 journal: offset of that frame in its file
///    176    8 journal: number of that frame
///    184    8 journal: hash of the frame before it
///    192    8 first page of this checkpoint's bitmap
///    200    8 first page of the other bitmap, which the next checkpoint writes
///    208    4 number of pages of this bitmap
///    212    4 number of pages of the other
///    216   32 record of the system tree (see SystemKey): named snapshots and the pages they pin
///    248    8 number of pages whose bit is set in the bitmap
///    256  160 keys, if encrypted (see KeyBlock), otherwise 0
///    416      0; readers ignore other values and treat them as 0
/// </code>
/// So a single sector decides whether a copy is valid. Otherwise a copy whose write left garbage after the record would count
/// as damaged, and part of a later write to the page, with zeros there again, might make it valid when the pages it refers to
/// no longer exist.
/// </summary>
internal sealed record MetaPage
{
    public const long Magic = 0x3145495045455254; // "TREEPIE1"
    public const int FormatVersion = 1;
    public const int FlagClean = 1;
    public const int FlagEncrypted = 2;

    /// <summary>The size of one copy in bytes. A page has two.</summary>
    public const int CopyBytes = PageLayout.SizeBytes / 2;

    private const int KnownFlags = FlagClean | FlagEncrypted;
    private const int KeysOffset = 256;
    private const int RecordBytes = 416;

    public required Guid StoreId { get; init; }
    public required long Checkpoint { get; init; }
    public required long LastTransaction { get; init; }
    public required long PageCount { get; init; }
    public required TreeRecord Catalogue { get; init; }
    public required TreeRecord System { get; init; }
    public required uint NextTreeId { get; init; }
    public required bool IsClean { get; init; }
    public required JournalPosition Journal { get; init; }
    public required PageRun Bitmap { get; init; }
    public required long LivePages { get; init; }
    public required PageRun OtherBitmap { get; init; }

    /// <summary>The wrapped keys, or null if the store is not encrypted.</summary>
    public KeyBlock? Keys { get; init; }

    /// <summary>In an encrypted store, proves that the copy was written by someone who has the keys.</summary>
    public UInt128 Tag { get; init; }

    /// <summary>The page, 0 or 1, of this checkpoint.</summary>
    public int Slot => (int)(Checkpoint & 1);

    /// <summary>Writes the page with both copies.</summary>
    public void Write(Span<byte> destination)
    {
        WriteCopy(destination[..CopyBytes]);
        destination[..CopyBytes].CopyTo(destination[CopyBytes..]);
    }

    /// <summary>Writes one copy.</summary>
    public void WriteCopy(Span<byte> destination)
    {
        destination.Clear();
        var page = new Page(destination)
        {
            Number = Slot,
            Birth = LastTransaction,
            Type = PageType.Meta,
            Tag = Tag,
        };
        BinaryPrimitives.WriteInt64LittleEndian(destination[64..], Magic);
        BinaryPrimitives.WriteInt32LittleEndian(destination[72..], FormatVersion);
        BinaryPrimitives.WriteInt32LittleEndian(destination[76..], PageLayout.SizeBytes);
        StoreId.TryWriteBytes(destination[80..]);
        BinaryPrimitives.WriteInt64LittleEndian(destination[96..], Checkpoint);
        BinaryPrimitives.WriteInt64LittleEndian(destination[104..], LastTransaction);
        BinaryPrimitives.WriteInt64LittleEndian(destination[112..], PageCount);
        Catalogue.Write(destination[120..]);
        BinaryPrimitives.WriteUInt32LittleEndian(destination[152..], NextTreeId);
        BinaryPrimitives.WriteInt32LittleEndian(
            destination[156..], (IsClean ? FlagClean : 0) | (Keys is null ? 0 : FlagEncrypted));
        BinaryPrimitives.WriteInt64LittleEndian(destination[160..], Journal.Use);
        BinaryPrimitives.WriteInt64LittleEndian(destination[168..], Journal.Offset);
        BinaryPrimitives.WriteInt64LittleEndian(destination[176..], Journal.Frame);
        BinaryPrimitives.WriteUInt64LittleEndian(destination[184..], Journal.PreviousHash);
        BinaryPrimitives.WriteInt64LittleEndian(destination[192..], Bitmap.First);
        BinaryPrimitives.WriteInt64LittleEndian(destination[200..], OtherBitmap.First);
        BinaryPrimitives.WriteInt32LittleEndian(destination[208..], Bitmap.Pages);
        BinaryPrimitives.WriteInt32LittleEndian(destination[212..], OtherBitmap.Pages);
        System.Write(destination[216..]);
        BinaryPrimitives.WriteInt64LittleEndian(destination[248..], LivePages);
        Keys?.Write(destination[KeysOffset..]);
        page.Checksum = Page.ComputeChecksum(destination);
    }

    /// <summary>
    /// Returns the fault of a meta page whose checksum is right, or null. Its numbers must be checked before anything is
    /// read, allocated or written by them.
    /// </summary>
    public string? FindFault()
    {
        if (PageCount < FormatLimits.FirstDataPage
            || LivePages < 0
            || LivePages > PageCount
            || Checkpoint < 0
            || LastTransaction < 0)
            return $"checkpoint {Checkpoint} of transaction {LastTransaction} has {PageCount} pages";
        if (FindFault(Bitmap) is { } fault || (fault = FindFault(OtherBitmap)) is not null)
            return fault;
        if (Bitmap.First < OtherBitmap.First + OtherBitmap.Pages && OtherBitmap.First < Bitmap.First + Bitmap.Pages)
            return $"both bitmaps lie at pages {Bitmap.First} and {OtherBitmap.First}";
        if (Journal.Use < 0 || Journal.Frame < 1 || Journal.Offset < 0 || Journal.Offset % FrameHeader.AlignmentBytes != 0)
            return $"its journal continues in use {Journal.Use} at {Journal.Offset} with frame {Journal.Frame}";

        Span<byte> record = stackalloc byte[TreeRecord.SizeBytes];
        Catalogue.Write(record);
        if (TreeRecord.FindFault(record) is { } what)
            return $"its catalogue has {what}";
        System.Write(record);
        return TreeRecord.FindFault(record) is { } systemFault ? $"its system tree has {systemFault}" : null;
    }

    private string? FindFault(PageRun run) =>
        run.First < FormatLimits.FirstDataPage || run.Pages < 1 || run.First > PageCount - run.Pages
            ? $"a bitmap of {run.Pages} pages at page {run.First} lies outside its {PageCount} pages"
            : null;

    /// <summary>
    /// Returns the newer valid copy of the meta page in these bytes, or null if there is none (torn, zero or damaged). Throws
    /// <see cref="ForeignDataException"/> for a valid one that this version must not open.
    /// </summary>
    public static MetaPage? TryRead(Span<byte> source, int slot, string file)
    {
        MetaPage? first = TryReadCopy(source[..CopyBytes], slot, file);
        MetaPage? second = TryReadCopy(source[CopyBytes..], slot, file);
        return second is null || first?.Checkpoint >= second.Checkpoint ? first : second;
    }

    /// <summary>Returns every valid copy.</summary>
    public static IReadOnlyList<MetaPage> ReadCopies(Span<byte> source, int slot, string file)
    {
        var copies = new List<MetaPage>();
        for (int offset = 0; offset < source.Length; offset += CopyBytes)
            if (TryReadCopy(source.Slice(offset, CopyBytes), slot, file) is { } copy)
                copies.Add(copy);
        return copies;
    }

    /// <summary>Whether at least one of the copies starts like a meta page, valid or not.</summary>
    public static bool IsMarked(ReadOnlySpan<byte> source) =>
        BinaryPrimitives.ReadInt64LittleEndian(source[64..]) == Magic
            || BinaryPrimitives.ReadInt64LittleEndian(source[(CopyBytes + 64)..]) == Magic;

    /// <summary>
    /// Whether a copy matches its checksum, as it is or with zeros after the record. As it is, because a later format may
    /// store more there and its version must be reported.
    /// </summary>
    private static bool HasChecksum(ReadOnlySpan<byte> source, uint checksum)
    {
        if (checksum == Page.ComputeChecksum(source))
            return true;

        Span<byte> rest = stackalloc byte[CopyBytes - RecordBytes];
        rest.Clear();
        return checksum == Page.ComputeChecksum(source[..RecordBytes], rest);
    }

    private static MetaPage? TryReadCopy(Span<byte> source, int slot, string file)
    {
        var page = new Page(source);
        if (BinaryPrimitives.ReadInt64LittleEndian(source[64..]) != Magic || !HasChecksum(source, page.Checksum))
            return null;

        int version = BinaryPrimitives.ReadInt32LittleEndian(source[72..]);
        if (version > FormatVersion)
            throw new ForeignDataException(
                $"'{file}' has format {version}, this program knows formats up to {FormatVersion}: open it with a newer one. "
                    + $"Nothing was written.");

        int pageSize = BinaryPrimitives.ReadInt32LittleEndian(source[76..]);
        int flags = BinaryPrimitives.ReadInt32LittleEndian(source[156..]);
        if (pageSize != PageLayout.SizeBytes || (flags & ~KnownFlags) != 0)
            throw new ForeignDataException(
                $"'{file}' has pages of {pageSize} bytes and flags {flags:x}; this program knows {PageLayout.SizeBytes} and "
                    + $"{KnownFlags:x}. Nothing was written.");

        KeyBlock? keys = (flags & FlagEncrypted) == 0 ? null : KeyBlock.TryRead(source[KeysOffset..]);
        if (page.Number != slot || page.Type != PageType.Meta || (keys is null && (flags & FlagEncrypted) != 0))
            return null;

        var meta = new MetaPage
        {
            Keys = keys,
            Tag = page.Tag,
            StoreId = new Guid(source.Slice(80, 16)),
            Checkpoint = BinaryPrimitives.ReadInt64LittleEndian(source[96..]),
            LastTransaction = BinaryPrimitives.ReadInt64LittleEndian(source[104..]),
            PageCount = BinaryPrimitives.ReadInt64LittleEndian(source[112..]),
            Catalogue = TreeRecord.Read(source[120..]),
            System = TreeRecord.Read(source[216..]),
            LivePages = BinaryPrimitives.ReadInt64LittleEndian(source[248..]),
            NextTreeId = BinaryPrimitives.ReadUInt32LittleEndian(source[152..]),
            IsClean = (flags & FlagClean) != 0,
            Journal = new JournalPosition(
                BinaryPrimitives.ReadInt64LittleEndian(source[160..]),
                BinaryPrimitives.ReadInt64LittleEndian(source[168..]),
                BinaryPrimitives.ReadInt64LittleEndian(source[176..]),
                BinaryPrimitives.ReadUInt64LittleEndian(source[184..])),
            Bitmap = new PageRun(
                BinaryPrimitives.ReadInt64LittleEndian(source[192..]), BinaryPrimitives.ReadInt32LittleEndian(source[208..])),
            OtherBitmap = new PageRun(
                BinaryPrimitives.ReadInt64LittleEndian(source[200..]), BinaryPrimitives.ReadInt32LittleEndian(source[212..])),
        };
        return meta.Slot == slot ? meta : null;
    }
}
