using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// The payload of a frame (see <see cref="JournalPayload"/>), read where it lies, after <see cref="JournalPayload.FindFault"/>
/// found nothing in it. Whoever follows it puts the changed pages in their places first and frees afterwards: new pages may be
/// copied from freed ones.
/// </summary>
internal readonly ref struct JournalContent(ReadOnlySpan<byte> payload)
{
    private readonly ReadOnlySpan<byte> _payload = payload;

    public TreeRecord Catalogue => TreeRecord.Read(_payload);

    public TreeRecord System => TreeRecord.Read(_payload[JournalPayload.SystemOffset..]);

    public uint NextTreeId => BinaryPrimitives.ReadUInt32LittleEndian(_payload[JournalPayload.NextTreeIdOffset..]);

    /// <summary>Pages of the data file in use afterwards.</summary>
    public long PageCount => BinaryPrimitives.ReadInt64LittleEndian(_payload[JournalPayload.PageCountOffset..]);

    /// <summary>How many pages, or runs of them, changed.</summary>
    public int ChangedPages => BinaryPrimitives.ReadInt32LittleEndian(_payload[JournalPayload.ChangedPagesOffset..]);

    /// <summary>Where the first of them lies; each is followed by the next.</summary>
    public ReadOnlySpan<byte> FirstChanged => _payload[(JournalPayload.HeadBytes + (FreedRuns * JournalPayload.FreedRunBytes))..];

    /// <summary>How many runs were freed.</summary>
    public int FreedRuns => BinaryPrimitives.ReadInt32LittleEndian(_payload[JournalPayload.FreedRunsOffset..]);

    public PageRun Freed(int index)
    {
        ReadOnlySpan<byte> run = _payload[(JournalPayload.HeadBytes + (index * JournalPayload.FreedRunBytes))..];
        return new PageRun(BinaryPrimitives.ReadInt64LittleEndian(run), BinaryPrimitives.ReadInt32LittleEndian(run[8..]));
    }
}
