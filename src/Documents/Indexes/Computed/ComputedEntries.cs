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
/// Maps documents and creates an entry for each of their results. A document whose map fails is recorded as an error and has
/// no entries. Keeps the number of entries of each document in the batch; surplus entries in the index are removed at
/// commit. Not thread-safe.
/// </summary>
internal sealed class ComputedEntries(
    IndexMap map, FieldExtractor extractor, TimeProvider timeProvider, IndexBatch batch)
{
    private readonly bool _keepsObjects = map.Source != IndexSourceType.Documents;
    private readonly MapHost _host = new();
    private readonly MapOutput _output = new();
    private readonly ObjectAsDocument _object = new();
    private readonly Dictionary<byte[], int> _counts = new(KeyEquality.Instance);
    private readonly Dictionary<byte[], UInt128[]> _references = new(KeyEquality.Instance);
    private readonly byte[] _key = new byte[MapItems.MaxKeyBytes + OutputKey.SuffixBytes];
    private readonly MapItems _items = new(map);

    /// <summary>What the map did for the batch.</summary>
    public MapTally Tally { get; } = new();

    /// <summary>The batch of entries.</summary>
    public IndexBatch Batch => batch;

    /// <summary>See <see cref="MapBatch.NewFields"/>.</summary>
    public HashSet<DynamicField> NewFields => extractor.NewFields;

    /// <summary>The references of each document of the batch.</summary>
    public IReadOnlyDictionary<byte[], UInt128[]> References => _references;

    /// <summary>Maps the current change of a feed.</summary>
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
    /// Maps the item of a key again because a document or value it loaded, or the document it belongs to, has changed. Does
    /// nothing for a document that was deleted or left the index, as its own change covers that.
    /// </summary>
    public void AddAgain(MappedChanges feed, byte[] key)
    {
        key.CopyTo(_key, 0);
        Add(feed, key.Length);
    }

    /// <summary>Appends the results of another mapper.</summary>
    public void Append(ComputedEntries other)
    {
        batch.Append(other.Batch);
        Tally.Add(other.Tally);
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

    /// <summary>Removes entries that documents of the batch had before and no longer have.</summary>
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
        Tally.Clear();
    }

    /// <summary>Maps the item whose key was written to the buffer.</summary>
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
            Tally.Succeeded(_output.Count, document.Id);
            Put(length, document.Id, _output.Count);
        }
        else
        {
            Tally.Failed();
            Put(length, default, 0);
            batch.BeginEntry(length <= IndexBatch.MaxKeyBytes ? _key.AsSpan(0, length) : KeyOfTooLong(length));
            batch.FailEntry(document.IdText(), error, timeProvider.GetUtcNow().UtcDateTime);
        }

        if (_host.References is { Length: > 0 } references)
            _references[_key[..length]] = references;
    }

    /// <summary>
    /// Adds the results of the document whose key is in the buffer, and removes its surplus entries in this batch.
    /// </summary>
    private void Put(int length, ReadOnlySpan<byte> id, int count)
    {
        if (length > IndexBatch.MaxKeyBytes)
        {
            batch.Delete(KeyOfTooLong(length)); // only an error can exist for it
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
                // A value does not fit its field; the other fields are indexed.
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

    /// <summary>
    /// Returns a substitute for a key that is too long, so that its error can be found. No id starts with this byte.
    /// </summary>
    private byte[] KeyOfTooLong(int length) => [0xFF, .. SHA256.HashData(_key.AsSpan(0, length))];

    /// <summary>Removes the results in a range of numbers of the document whose key is in the buffer.</summary>
    private void Remove(int length, int from, int until)
    {
        for (int i = Math.Max(1, from); i < until; i++)
            batch.Delete(_key.AsSpan(0, OutputKey.Complete(_key, length, i)));
    }
}
