using System.Security.Cryptography;
using Treepie.Computations;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Extraction;
using Treepie.Indexes.Fields;
using Treepie.Indexes.States;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Indexes.Computed;

/// <summary>
/// Maps documents and makes of each of their results an entry. A document whose map fails is noted and has none. Knows how many
/// entries each document has in the batch; what it has had more in the index is removed when it is committed. Not thread-safe.
/// </summary>
internal sealed class ComputedEntries(
    IndexMap map, FieldExtractor extractor, TimeProvider timeProvider, IndexBatch batch, MapCounters counters)
{
    private readonly bool _keepsObjects = map.Source != IndexSourceType.Documents;
    private readonly MapHost _host = new();
    private readonly MapOutput _output = new();
    private readonly ObjectAsDocument _object = new();
    private readonly Dictionary<byte[], int> _counts = new(KeyEquality.Instance);
    private readonly Dictionary<byte[], UInt128[]> _references = new(KeyEquality.Instance);
    private readonly byte[] _key = new byte[MapItems.MaxKeyBytes + OutputKey.SuffixBytes];
    private readonly MapItems _items = new(map);

    /// <summary>How mapping goes.</summary>
    public MapCounters Counters => counters;

    /// <summary>The entries.</summary>
    public IndexBatch Batch => batch;

    /// <summary>See <see cref="MapBatch.NewFields"/>.</summary>
    public HashSet<DynamicField> NewFields => extractor.NewFields;

    /// <summary>What each document of the batch looks at.</summary>
    public IReadOnlyDictionary<byte[], UInt128[]> References => _references;

    /// <summary>Maps the document of the change that a feed stands on.</summary>
    public void Add(MappedChanges feed)
    {
        int length = MapItems.KeyOf(feed, _key);
        if (feed.IsBeside)
            Add(feed, length);
        else if (feed.IsTombstone)
            Put(length, [], 0);
        else
            Map(feed.Document, feed.Snapshot, length);
    }

    /// <summary>
    /// Maps again what has a key because something changed that it has looked at, or the document that it lies beside. A document
    /// that is gone or left the index has a change of its own that says so.
    /// </summary>
    public void AddAgain(MappedChanges feed, byte[] key)
    {
        key.CopyTo(_key, 0);
        Add(feed, key.Length);
    }

    /// <summary>Takes what others have mapped behind what this one has.</summary>
    public void Append(ComputedEntries other)
    {
        batch.Append(other.Batch);
        foreach ((byte[] document, int count) in other._counts)
        {
            document.CopyTo(_key, 0);
            Remove(document.Length, count, _counts.GetValueOrDefault(document));
            _counts[document] = count;
        }

        NewFields.UnionWith(other.NewFields);
        foreach ((byte[] document, UInt128[] references) in other._references)
            _references[document] = references;
    }

    /// <summary>Removes entries that documents of the batch have had and have no more.</summary>
    public void RemoveLeftOver(OutputCounts counts)
    {
        foreach ((byte[] document, int count) in _counts)
        {
            document.CopyTo(_key, 0);
            Remove(document.Length, count, counts.Replace(document, count));
        }
    }

    public void Clear()
    {
        batch.Clear();
        _counts.Clear();
        _references.Clear();
        NewFields.Clear();
    }

    /// <summary>Maps what has the key that was written.</summary>
    private void Add(MappedChanges feed, int length)
    {
        if (_items.TryGet(feed, _key.AsSpan(0, length), out Document document))
            Map(document, feed.Snapshot, length, _items.Name);
        else if (map.Source != IndexSourceType.Documents)
            Put(length, [], 0);
    }

    private void Map(Document document, DatabaseSnapshot snapshot, int length, string? besideName = null)
    {
        _output.Clear();
        _host.Begin(snapshot, document, besideName);
        string? error = null;
        try
        {
            map.Map(document, _host, _output);
            if (length + (_output.Count > 1 ? OutputKey.SuffixBytes : 0) > IndexBatch.MaxKeyBytes)
                error = $"its id in lower case has {length} bytes, which is too long for an index that computes.";
        }
        catch (ComputationException failure)
        {
            error = failure.Message;
        }

        if (error is null)
        {
            counters.Succeeded(_output.Count, document.Id);
            Put(length, document.Id, _output.Count);
        }
        else
        {
            counters.Failed();
            Put(length, default, 0);
            batch.BeginEntry(length <= IndexBatch.MaxKeyBytes ? _key.AsSpan(0, length) : KeyOfTooLong(length));
            batch.FailEntry(document.IdText(), error, timeProvider.GetUtcNow().UtcDateTime);
        }

        if (_host.References is { Length: > 0 } references)
            _references[_key[..length]] = references;
    }

    /// <summary>
    /// Puts the results of the document whose id stands in the key, and removes what it has had more in this batch.
    /// </summary>
    private void Put(int length, ReadOnlySpan<byte> id, int count)
    {
        if (length > IndexBatch.MaxKeyBytes)
        {
            batch.Delete(KeyOfTooLong(length)); // it had no more than an error
            return;
        }

        for (int i = 0; i < count; i++)
        {
            batch.BeginEntry(_key.AsSpan(0, OutputKey.Complete(_key, length, i)));
            if (_keepsObjects)
                batch.AddStored(Reducing.Reducer.ObjectSlot, extractor.ToKeep(_output[i].Span));
            try
            {
                extractor.Extract(_object.Of(_output[i].Span, null, id), batch);
                batch.EndEntry();
            }
            catch (Exception error) when (error is not OperationCanceledException and not OutOfMemoryException)
            {
                // A value is not what its field is of; the others are there.
                batch.EndEntry(System.Text.Encoding.UTF8.GetString(id), error.Message, timeProvider.GetUtcNow().UtcDateTime);
            }
        }

        if (count == 0)
            batch.Delete(_key.AsSpan(0, length));
        bool looks = map.LoadedCollections.Count > 0 || map.LoadsCompareExchange || _keepsObjects;
        if (map.IsSingle && !looks)
            return;
        byte[] document = _key[..length];
        if (!map.IsSingle)
        {
            Remove(length, count, _counts.GetValueOrDefault(document));
            _counts[document] = count;
        }

        if (looks)
            _references[document] = [];
    }

    /// <summary>Stands for a key that is too long, so that its error can be found again. No id begins with this byte.</summary>
    private byte[] KeyOfTooLong(int length) => [0xFF, .. SHA256.HashData(_key.AsSpan(0, length))];

    /// <summary>Removes the results from one number on up to another of the document whose id stands in the key.</summary>
    private void Remove(int length, int from, int until)
    {
        for (int i = Math.Max(1, from); i < until; i++)
            batch.Delete(_key.AsSpan(0, OutputKey.Complete(_key, length, i)));
    }
}
