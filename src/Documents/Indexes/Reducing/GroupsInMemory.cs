using Treepie.Computations;
using Treepie.Indexes.Computed;
using Treepie.Indexes.Extraction;
using Treepie.Indexes.Grouping;
using Treepie.Indexes.States;
using Treepie.Indexing;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Indexes.Reducing;

/// <summary>
/// Groups of a few documents, chosen by a query, as an index in memory: it has the entries that an index of groups would have if
/// there were no other documents. Not thread-safe; must be disposed.
/// </summary>
/// <remarks>
/// Costs: mapping each document, and memory for each group, which is bounded. Documents are not kept.
/// </remarks>
internal sealed class GroupsInMemory : IDisposable
{
    /// <summary>The number of results of a group that are kept before they are reduced to one.</summary>
    private const int MostWaiting = 64;

    /// <summary>The size in bytes of all kept results from which each group's are reduced to one, at first.</summary>
    private const long ReducedFrom = 64L << 20;

    /// <summary>The size in bytes of the groups beyond which they are refused.</summary>
    private const long MaxBytes = 512L << 20;

    /// <summary>The number of groups that become entries at a time.</summary>
    private const int GroupsAtATime = 4_096;

    private readonly GroupDefinition _definition;
    private readonly int _maxGroups;
    private readonly TimeProvider _timeProvider;
    private readonly StorageEnvironment _environment;
    private readonly Dictionary<byte[], List<ReadOnlyMemory<byte>>> _groups = new(KeyEquality.Instance);
    private readonly MapOutput _output = new();
    private readonly MapHost _host = new();
    private IndexSearcher? _searcher;
    private long _bytes;
    private long _reducedFrom = ReducedFrom;

    /// <param name="definition">The groups.</param>
    /// <param name="isSecret">Whether memory is encrypted, as the documents are.</param>
    /// <param name="maxGroups">The maximum number of groups.</param>
    /// <param name="timeProvider">The clock.</param>
    public GroupsInMemory(GroupDefinition definition, bool isSecret, int maxGroups, TimeProvider timeProvider)
    {
        _definition = definition;
        _maxGroups = maxGroups;
        _timeProvider = timeProvider;
        using EncryptionKey? key = isSecret ? EncryptionKey.Generate() : null;
        _environment = MemoryEnvironment.Open(key);
    }

    /// <summary>Why the first document that could not be grouped was left out; null if none was.</summary>
    public string? FirstError { get; private set; }

    /// <summary>The number of documents that could not be grouped.</summary>
    public int Errors { get; private set; }

    /// <summary>The number of groups, once they are entries.</summary>
    public long Count { get; private set; }

    /// <summary>Adds a document to its groups, or leaves it out if it cannot be grouped.</summary>
    /// <exception cref="InvalidQueryException">There are too many groups.</exception>
    public void Add(Document document)
    {
        _output.Clear();
        try
        {
            _definition.Reduction.Map.Map(document, _host, _output);
        }
        catch (ComputationException error)
        {
            Errors++;
            FirstError ??= $"The document '{document.IdText()}': {error.Message}";
            return;
        }

        for (int i = 0; i < _output.Count; i++)
            Add(_output[i]);
    }

    /// <summary>Makes entries of the groups, once, and returns the searcher of them, which it keeps.</summary>
    public IndexSearcher Finish(CancellationToken cancellationToken)
    {
        var writer = new IndexWriter(_environment, _definition.Schema);
        var reducer = new Reducer(
            _definition.Reduction.Reduce, new FieldExtractor(_definition), _timeProvider, new ReduceCounters());
        Count = _groups.Count;
        foreach (KeyValuePair<byte[], List<ReadOnlyMemory<byte>>>[] some in
            _groups.OrderBy(static group => group.Key, KeyOrder.Instance).Chunk(GroupsAtATime))
        {
            IndexBatch batch = writer.BeginBatch();
            foreach ((byte[] group, List<ReadOnlyMemory<byte>> results) in some)
            {
                reducer.PutResult(group, Reduced(results).Span, batch);
                _groups.Remove(group);
                cancellationToken.ThrowIfCancellationRequested();
            }

            writer.Commit(batch, 0, cancellationToken);
        }

        return _searcher = new IndexSearcher(_environment);
    }

    public void Dispose()
    {
        _searcher?.Dispose();
        _environment.Dispose();
    }

    private void Add(ReadOnlyMemory<byte> result)
    {
        byte[] group = ReduceKey.Of(result.Span, _definition.Reduction.Reduce.Keys);
        if (!_groups.TryGetValue(group, out List<ReadOnlyMemory<byte>>? results))
        {
            if (_groups.Count == _maxGroups)
                throw new InvalidQueryException(
                    $"The documents are in more than {_maxGroups:N0} groups, which a 'group by' of some documents only keeps in "
                        + "memory (MaxDistinctResults). Narrow the condition, or group all documents.");
            _groups[group] = results = new List<ReadOnlyMemory<byte>>(1);
        }

        results.Add(result.ToArray());
        _bytes += result.Length;
        if (results.Count >= MostWaiting)
            ReduceToOne(results);
        if (_bytes < _reducedFrom)
            return;
        foreach (List<ReadOnlyMemory<byte>> each in _groups.Values)
            if (each.Count > 1)
                ReduceToOne(each);
        if (_bytes > MaxBytes)
            throw new InvalidQueryException(
                $"The groups of the documents take more than {MaxBytes >> 20} MB, and a 'group by' of some documents only keeps "
                    + "them in memory. Narrow the condition, or group all documents.");
        _reducedFrom = Math.Max(ReducedFrom, 2 * _bytes);
    }

    private void ReduceToOne(List<ReadOnlyMemory<byte>> results)
    {
        ReadOnlyMemory<byte> reduced = Reduced(results);
        _bytes += reduced.Length - results.Sum(static result => (long)result.Length);
        results.Clear();
        results.Add(reduced);
    }

    private ReadOnlyMemory<byte> Reduced(List<ReadOnlyMemory<byte>> results)
    {
        var output = new MapOutput();
        _definition.Reduction.Reduce.Reduce(results, output);
        return output[0]; // a group has one object
    }
}
