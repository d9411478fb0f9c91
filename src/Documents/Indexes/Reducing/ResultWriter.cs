using System.Security.Cryptography;
using Treepie.Computations;
using Treepie.Indexes.Computed;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Indexes.Reducing;

/// <summary>Maps changes of documents for a reduce. Not thread-safe.</summary>
internal sealed class ResultWriter(
    IndexMap map, IReadOnlyList<string> keys, TimeProvider timeProvider)
{
    private readonly byte[] _key = new byte[MapItems.MaxKeyBytes];
    private readonly MapItems _items = new(map);
    private readonly MapOutput _output = new();
    private readonly MapHost _host = new();

    /// <summary>What the map did for the batch.</summary>
    public MapTally Tally { get; } = new();

    /// <summary>Maps the current change of a feed.</summary>
    public MappedDocument Map(MappedChanges feed)
    {
        ReadOnlySpan<byte> key = _key.AsSpan(0, MapItems.KeyOf(feed, _key));
        if (feed.IsBeside)
            return MapKey(feed, key);
        return feed.IsTombstone ? Gone(key) : Map(feed.Document, feed.Snapshot, key);
    }

    /// <summary>
    /// Maps the item of a key again because a document or value it loaded, or the document it belongs to, has changed.
    /// Returns null for a document that was deleted or left the index, as its own change covers that.
    /// </summary>
    public MappedDocument? MapAgain(MappedChanges feed, byte[] key)
    {
        if (map.Source != IndexSourceType.Documents)
            return MapKey(feed, key);
        return _items.TryGet(feed, key, out Document document) ? Map(document, feed.Snapshot, key) : null;
    }

    private MappedDocument MapKey(MappedChanges feed, ReadOnlySpan<byte> key) =>
        _items.TryGet(feed, key, out Document document) ? Map(document, feed.Snapshot, key, _items.Name) : Gone(key);

    private static MappedDocument Gone(ReadOnlySpan<byte> key) => new(KeyOf(key), "", [], null, default);

    // No id starts with this byte.
    public static byte[] KeyOf(ReadOnlySpan<byte> foldedId) =>
        foldedId.Length <= IndexBatch.MaxKeyBytes ? foldedId.ToArray() : [0xFF, .. SHA256.HashData(foldedId)];

    private MappedDocument Map(
        Document document, DatabaseSnapshot snapshot, ReadOnlySpan<byte> ownKey, string? besideName = null)
    {
        byte[] key = KeyOf(ownKey);
        _output.Clear();
        _host.Begin(snapshot, document, besideName);
        try
        {
            map.Map(document, _host, _output);
            var results = new MappedResult[_output.Count];
            for (int i = 0; i < results.Length; i++)
                results[i] = new MappedResult(ReduceKey.Of(_output[i].Span, keys), _output[i].ToArray());
            Tally.Succeeded(results.Length, document.Id);
            return new MappedDocument(key, document.IdText(), results, null, default) { References = _host.References };
        }
        catch (ComputationException error)
        {
            Tally.Failed();
            return new MappedDocument(key, document.IdText(), [], error.Message, timeProvider.GetUtcNow().UtcDateTime)
            {
                References = _host.References
            };
        }
    }
}
