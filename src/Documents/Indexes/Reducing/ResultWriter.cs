using System.Security.Cryptography;
using Treepie.Computations;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Indexes.Reducing;

/// <summary>Maps changes of documents for a reduce. Not thread-safe.</summary>
internal sealed class ResultWriter(IndexMap map, IReadOnlyList<string> keys, TimeProvider timeProvider)
{
    private readonly byte[] _key = new byte[DocumentId.MaxFoldedBytes];
    private readonly MapOutput _output = new();

    /// <summary>Maps the change that a feed stands on.</summary>
    public MappedDocument Map(MappedChanges feed)
    {
        int length = DocumentId.Fold(feed.Id, _key);
        byte[] key = length <= IndexBatch.MaxKeyBytes ? _key[..length] : [0xFF, .. SHA256.HashData(_key.AsSpan(0, length))]; // no id begins with this byte
        if (feed.IsTombstone)
            return new MappedDocument(key, "", [], null, default);

        Document document = feed.Document;
        _output.Clear();
        try
        {
            map.Map(document, NoHost.Instance, _output);
            var results = new MappedResult[_output.Count];
            for (int i = 0; i < results.Length; i++)
                results[i] = new MappedResult(ReduceKey.Of(_output[i].Span, keys), _output[i].ToArray());
            return new MappedDocument(key, document.IdText(), results, null, default);
        }
        catch (ComputationException error)
        {
            return new MappedDocument(key, document.IdText(), [], error.Message, timeProvider.GetUtcNow().UtcDateTime);
        }
    }

    /// <summary>For maps that look at nothing but their document.</summary>
    private sealed class NoHost : IMapHost
    {
        public static readonly NoHost Instance = new();

        public byte[]? Load(string id, string collection) => throw new ComputationException("this map looks at nothing but its document.");

        public byte[]? CompareExchange(string key) => throw new ComputationException("this map looks at nothing but its document.");

        public byte[] WholeDocument() => throw new ComputationException("this map looks at nothing but its document.");
    }
}
