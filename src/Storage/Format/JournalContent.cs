using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// A view of the payload of a frame (see <see cref="JournalPayload"/>). Requires that <see cref="JournalPayload.FindFault"/>
/// found no fault. Apply the changed pages before the freed runs: new pages may be copied from freed ones.
/// </summary>
internal readonly ref struct JournalContent(ReadOnlySpan<byte> payload)
{
    private readonly ReadOnlySpan<byte> _payload = payload;

    public TreeRecord Catalogue => TreeRecord.Read(_payload);

    public TreeRecord System => TreeRecord.Read(_payload[JournalPayload.SystemOffset..]);

    public uint NextTreeId => BinaryPrimitives.ReadUInt32LittleEndian(_payload[JournalPayload.NextTreeIdOffset..]);

    /// <summary>The size of the data file in pages after the commit.</summary>
    public long PageCount => BinaryPrimitives.ReadInt64LittleEndian(_payload[JournalPayload.PageCountOffset..]);

    /// <summary>The number of changed pages or runs.</summary>
    public int ChangedPages => BinaryPrimitives.ReadInt32LittleEndian(_payload[JournalPayload.ChangedPagesOffset..]);

    /// <summary>The first changed page. The others follow it directly.</summary>
    public ReadOnlySpan<byte> FirstChanged => _payload[(JournalPayload.HeadBytes + (FreedRuns * JournalPayload.FreedRunBytes))..];

    /// <summary>The number of freed runs.</summary>
    public int FreedRuns => BinaryPrimitives.ReadInt32LittleEndian(_payload[JournalPayload.FreedRunsOffset..]);

    public PageRun Freed(int index)
    {
        ReadOnlySpan<byte> run = _payload[(JournalPayload.HeadBytes + (index * JournalPayload.FreedRunBytes))..];
        return new PageRun(BinaryPrimitives.ReadInt64LittleEndian(run), BinaryPrimitives.ReadInt32LittleEndian(run[8..]));
    }
}
