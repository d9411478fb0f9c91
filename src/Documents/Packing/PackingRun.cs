using System.Buffers;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Packing;

/// <summary>
/// Compresses the documents of a collection that do not use its current dictionary, in etag order. Documents are compressed
/// outside of the write transaction; a step blocks writers for a few milliseconds only.
/// </summary>
internal sealed class PackingRun(IWriteHost host, string collection, BodyDictionary dictionary)
{
    /// <summary>Maximum number of documents, and of bytes of compressed documents, per step.</summary>
    private const int DocumentsPerStep = 256, BytesPerStep = 256 * 1024;

    /// <summary>Maximum number of documents examined per snapshot. After that many, the position is stored durably.</summary>
    private const int DocumentsPerLook = 8_192;

    /// <summary>Compresses all documents. Reports the total so far after each step.</summary>
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

    /// <summary>Prepares the next step. Returns null if the collection has another dictionary by now.</summary>
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

    /// <summary>
    /// Compresses a document. Returns null if it already uses the dictionary or would not become shorter.
    /// </summary>
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

    /// <summary>Documents to compress, and the etag up to which all documents were examined.</summary>
    private sealed record Step(int CollectionId, PackingRecord Record)
    {
        public List<(byte[] Folded, long Etag, byte[] Packed)> Documents { get; } = [];

        public long UpTo { get; set; }

        public int Seen { get; set; }

        public long BytesBefore { get; set; }

        public bool IsLast { get; init; }
    }
}
