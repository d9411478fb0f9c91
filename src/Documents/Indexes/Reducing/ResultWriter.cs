using System.Security.Cryptography;
using Treepie.Computations;
using Treepie.Indexes.Computed;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Indexes.Reducing;

/// <summary>Maps changes of documents for a reduce. Not thread-safe.</summary>
internal sealed class ResultWriter(
    IndexMap map, IReadOnlyList<string> keys, TimeProvider timeProvider, MapCounters counters)
{
    private readonly byte[] _key = new byte[DocumentId.MaxFoldedBytes];
    private readonly MapOutput _output = new();
    private readonly MapHost _host = new();

    /// <summary>Maps the change that a feed stands on.</summary>
    public MappedDocument Map(MappedChanges feed)
    {
        int length = DocumentId.Fold(feed.Id, _key);
        return feed.IsTombstone
            ? new MappedDocument(KeyOf(_key.AsSpan(0, length)), "", [], null, default)
            : Map(feed.Document, feed.Snapshot, _key.AsSpan(0, length));
    }

    /// <summary>
    /// Maps a document again because something changed that it has looked at; null where it is gone or left the index, which its
    /// own change says.
    /// </summary>
    public MappedDocument? MapAgain(MappedChanges feed, byte[] foldedId) =>
        feed.Snapshot.TryGetByFoldedId(foldedId, out Document document)
            && (map.Collections.Count == 0 || map.Collections.Contains(document.CollectionName, StringComparer.OrdinalIgnoreCase))
            && !feed.LeavesOut(document)
            ? Map(document, feed.Snapshot, foldedId)
            : null;

    // no id begins with this byte
    private static byte[] KeyOf(ReadOnlySpan<byte> foldedId) =>
        foldedId.Length <= IndexBatch.MaxKeyBytes ? foldedId.ToArray() : [0xFF, .. SHA256.HashData(foldedId)];

    private MappedDocument Map(Document document, DatabaseSnapshot snapshot, ReadOnlySpan<byte> foldedId)
    {
        byte[] key = KeyOf(foldedId);
        _output.Clear();
        _host.Begin(snapshot, document);
        try
        {
            map.Map(document, _host, _output);
            var results = new MappedResult[_output.Count];
            for (int i = 0; i < results.Length; i++)
                results[i] = new MappedResult(ReduceKey.Of(_output[i].Span, keys), _output[i].ToArray());
            counters.Succeeded(results.Length, document.Id);
            return new MappedDocument(key, document.IdText(), results, null, default) { References = _host.References };
        }
        catch (ComputationException error)
        {
            counters.Failed();
            return new MappedDocument(key, document.IdText(), [], error.Message, timeProvider.GetUtcNow().UtcDateTime)
            {
                References = _host.References
            };
        }
    }
}
