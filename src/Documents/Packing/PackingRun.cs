using System.Buffers;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Packing;

/// <summary>
/// Packs the documents of a collection that are not packed with its dictionary, in the order of its log. They are compressed
/// before writers are asked for their turn; a step holds them for a few milliseconds.
/// </summary>
internal sealed class PackingRun(IWriteHost host, string collection, BodyDictionary dictionary)
{
    /// <summary>Most documents, and bytes of packed ones, of a step.</summary>
    private const int DocumentsPerStep = 256, BytesPerStep = 256 * 1024;

    /// <summary>Documents that are looked at between two durable marks, or snapshots, where none is to be packed.</summary>
    private const int DocumentsPerLook = 8_192;

    /// <summary>Packs all; tells after each step what it came to so far.</summary>
    public async Task<CompressionReport> RunAsync(Action<CompressionReport> progress, CancellationToken cancellationToken)
    {
        var report = new CompressionReport(0, 0, 0);
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (Find() is not { } step)
                return report;
            if (step.Documents.Count > 0 || step.Seen >= DocumentsPerLook)
            {
                await host.WriteAsync(writer => Write(writer, step), cancellationToken).ConfigureAwait(false);
                report += new CompressionReport(
                    step.Documents.Count, step.BytesBefore, step.Documents.Sum(static document => (long)document.Packed.Length));
                progress(report);
            }

            if (step.IsLast)
                return report;
        }
    }

    private static bool Write(DocumentWriter writer, Step step)
    {
        foreach ((byte[] folded, long etag, byte[] packed) in step.Documents)
            writer.Pack(folded, etag, packed);
        (step.Record with { UpTo = step.UpTo }).Put(writer.GetOrCreateTree(TreeNames.Packing), step.CollectionId);
        writer.Save();
        return true;
    }

    /// <summary>What is to be done next; null where the collection has another dictionary by now.</summary>
    private Step? Find()
    {
        using DatabaseSnapshot snapshot = host.BeginRead();
        if (snapshot.FindCollection(collection) is not { } id
            || PackingRecord.Find(snapshot.FindTree, id) is not { } record
            || record.Dictionary != dictionary.Number)
            return null;

        var step = new Step(id, record) { UpTo = record.UpTo };
        int bytes = 0;
        using DocumentCursor cursor = snapshot.ByCollection(collection, record.UpTo);
        while (step.Documents.Count < DocumentsPerStep && bytes < BytesPerStep && step.Seen < DocumentsPerLook)
        {
            if (!cursor.MoveNext())
                return step with { IsLast = true };
            Document document = cursor.Current;
            (step.Seen, step.UpTo) = (step.Seen + 1, document.Etag);
            if (TryPack(document) is { } packed)
            {
                step.Documents.Add((CollectionName.Fold(document.Id), document.Etag, packed));
                step.BytesBefore += document.StoredBody.Length;
                bytes += packed.Length;
            }

            snapshot.ReleasePages();
        }

        return step;
    }

    /// <summary>The body of a document packed; null where it is, or would be no shorter than it is.</summary>
    private byte[]? TryPack(Document document)
    {
        if (document.IsPacked && PackedBody.DictionaryOf(document.StoredBody) == dictionary.Number)
            return null;
        ReadOnlySpan<byte> body = document.Body;
        byte[] room = ArrayPool<byte>.Shared.Rent(body.Length);
        int length = PackedBody.Pack(dictionary, body, room);
        byte[]? packed = length > 0 && length < document.StoredBody.Length ? room[..length] : null;
        ArrayPool<byte>.Shared.Return(room);
        return packed;
    }

    /// <summary>Documents to pack, and up to where all are looked at.</summary>
    private sealed record Step(int CollectionId, PackingRecord Record)
    {
        public List<(byte[] Folded, long Etag, byte[] Packed)> Documents { get; } = [];

        public long UpTo { get; set; }

        public int Seen { get; set; }

        public long BytesBefore { get; set; }

        public bool IsLast { get; init; }
    }
}
