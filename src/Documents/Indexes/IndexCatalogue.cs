using Treepie.Encryption;
using Treepie.Indexes.Definitions;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// The indexes of a database: the front door of this room. Each index has a store of its own, filled in the background from the
/// document log, and is a function of the documents up to its etag: losing one costs the time to build it again, never data. Queries
/// choose from here, and an index that is missing is made for them. Thread-safe.
/// </summary>
public sealed class IndexCatalogue : IDisposable
{
    private readonly Lock _lock = new();
    private readonly string _directory;
    private readonly IndexingContext _context;
    private readonly SealedDefinitions? _sealed;
    private readonly CancellationTokenSource _stop = new();
    private readonly Dictionary<string, DocumentIndexer> _indexers = new(StringComparer.OrdinalIgnoreCase);
    private readonly List<Task> _stopping = [];
    private long _generation;
    private bool _closed;

    private IndexCatalogue(string directory, IndexingContext context, SealedDefinitions? sealedDefinitions)
    {
        _directory = directory;
        _context = context;
        _sealed = sealedDefinitions;
    }

    /// <summary>Opens the indexes that lie below a directory and goes on indexing.</summary>
    internal static IndexCatalogue Open(
        string directory, Func<DatabaseSnapshot> beginRead, ChangeSignal changes, TimeProvider timeProvider, SealedDefinitions? sealedDefinitions = null)
    {
        Directory.CreateDirectory(directory);
        var turns = new SemaphoreSlim(Math.Max(1, Environment.ProcessorCount / 2));
        var catalogue = new IndexCatalogue(directory, new IndexingContext(beginRead, changes, turns, timeProvider), sealedDefinitions);
        try
        {
            foreach ((IndexDirectory place, AutoIndexDefinition definition) in IndexDirectory.Scan(directory, sealedDefinitions))
            {
                catalogue._generation = Math.Max(catalogue._generation, place.Generation);
                catalogue.Add(OpenIndex(definition, place, beginRead));
            }
        }
        catch
        {
            ((IDisposable)catalogue).Dispose();
            throw;
        }

        return catalogue;
    }

    /// <summary>State of every index, by name.</summary>
    public IReadOnlyList<IndexStatistics> List()
    {
        using DatabaseSnapshot snapshot = _context.BeginRead();
        return [.. Indexes().OrderBy(i => i.Name, StringComparer.Ordinal).Select(i => Describe(i, snapshot)).OfType<IndexStatistics>()];
    }

    /// <summary>Waits until every index (or the named ones) has indexed all that was committed before the call; false at the timeout.</summary>
    /// <exception cref="IndexNotFoundException">A named index does not exist.</exception>
    public async Task<bool> WaitForNonStaleAsync(TimeSpan timeout, IReadOnlyList<string>? indexNames = null, CancellationToken cancellationToken = default)
    {
        long etag = _context.Changes.LastEtag;
        IReadOnlyList<DocumentIndex> indexes = indexNames is null ? Indexes() : [.. indexNames.Select(n => Find(n) ?? throw new IndexNotFoundException(n))];
        using var limit = new CancellationTokenSource(timeout, _context.TimeProvider);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        foreach (DocumentIndex index in indexes)
        {
            try
            {
                await index.Progress.WaitForAsync(etag, either.Token).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
            {
                return false;
            }
            catch (ObjectDisposedException)
            {
                // An index that is gone keeps nobody waiting.
            }
        }

        return true;
    }

    /// <summary>Deletes an index with its files; false if there is none.</summary>
    public bool Delete(string name) => Remove(name);

    /// <summary>Empties an index and builds it again.</summary>
    /// <exception cref="IndexNotFoundException">There is none of that name.</exception>
    public void Reset(string name) => Reset(Find(name) ?? throw new IndexNotFoundException(name));

    /// <summary>Gives every index a new data key, one after the other. One that goes meanwhile is left out, one that comes has a new key anyway.</summary>
    internal void RotateDataKeys(KeyRotationSteps steps, CancellationToken cancellationToken)
    {
        foreach (DocumentIndex index in Indexes())
        {
            if (!index.TryHold())
                continue;
            try
            {
                steps.Add(index.Name, index.RotateDataKey(steps.Of(index.Name), cancellationToken));
            }
            finally
            {
                index.Release();
            }
        }
    }

    /// <summary>Bytes of decrypted pages of all indexes in memory.</summary>
    internal long DecryptedBytes()
    {
        long bytes = 0;
        foreach (DocumentIndex index in Indexes())
        {
            if (!index.TryHold())
                continue;
            try
            {
                bytes += index.Store.GetStatistics().DecryptedBytes;
            }
            finally
            {
                index.Release();
            }
        }

        return bytes;
    }

    /// <summary>The index of that name; null if there is none.</summary>
    internal DocumentIndex? Find(string name)
    {
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_closed, this);
            return _indexers.GetValueOrDefault(name)?.Index;
        }
    }

    /// <summary>Empties an index and builds it again, unless somebody has done so meanwhile.</summary>
    internal void Reset(DocumentIndex index)
    {
        lock (_lock)
        {
            if (Find(index.Name) != index)
                return;

            Remove(index.Name);
            Add(Make(index.Definition));
        }
    }

    /// <summary>
    /// The index that answers queries over these fields: the one that is complete and has the most in it, or the one that will be, or a
    /// new one that has these fields and all that other indexes of the collection have, and takes their place when it is complete.
    /// </summary>
    /// <param name="collection">Collection, or <see cref="AutoIndexDefinition.AllDocuments"/>.</param>
    /// <param name="fields">Fields, in the order of the query.</param>
    /// <param name="created">Whether it was made now: whoever made it waits for it.</param>
    internal DocumentIndex FindOrCreate(string collection, IReadOnlyList<AutoIndexField> fields, out bool created)
    {
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_closed, this);
            DocumentIndex? best = null;
            DocumentIndex? widest = null;
            foreach (DocumentIndex index in _indexers.Values.Select(i => i.Index).Where(i => i.Definition.IsFor(collection)))
            {
                if (index.Definition.Covers(fields) && (best is null || IsBetter(index, best)))
                    best = index;
                if (widest is null || index.Definition.Fields.Count > widest.Definition.Fields.Count)
                    widest = index;
            }

            created = best is null;
            if (best is not null)
                return best;

            AutoIndexDefinition wanted = (widest?.Definition ?? new AutoIndexDefinition(collection, [])).Merge(fields);
            if (wanted.Fields.Count > AutoIndexDefinition.MaxFields)
            {
                // A collection asked about in so many ways gets a second index instead of one without end.
                wanted = new AutoIndexDefinition(collection, [.. fields]);
                if (wanted.Fields.Count > AutoIndexDefinition.MaxFields)
                    throw new InvalidQueryException($"The query asks about {wanted.Fields.Count} fields; an index takes {AutoIndexDefinition.MaxFields}.");
            }

            DocumentIndex made = Make(wanted);
            Add(made);
            return made;
        }
    }

    /// <summary>Definitions of all indexes, by name.</summary>
    internal IReadOnlyList<AutoIndexDefinition> Definitions() => [.. Indexes().Select(i => i.Definition).OrderBy(d => d.Name, StringComparer.Ordinal)];

    /// <summary>All indexes, held: whoever calls releases each.</summary>
    internal IReadOnlyList<HeldIndex> Hold() => [.. Indexes().Where(index => index.TryHold()).Select(index => new HeldIndex(index, index.Folder, DefinitionJson.Write(index.Definition)))];

    /// <summary>Makes an index of exactly this definition, unless there is one of its name.</summary>
    internal void Ensure(AutoIndexDefinition definition)
    {
        lock (_lock)
        {
            if (Find(definition.Name) is null)
                Add(Make(definition));
        }
    }

    /// <summary>Whether documents of a snapshot, up to an etag, wait to be indexed.</summary>
    internal static bool IsStale(DocumentIndex index, long indexedEtag, DatabaseSnapshot snapshot, long upToEtag)
    {
        using ChangeFeed feed = snapshot.Changes(index.Collection, indexedEtag);
        return feed.MoveNext() && feed.Etag <= upToEtag;
    }

    /// <summary>Stops indexing and closes all stores that no query reads any more. For the database alone.</summary>
    void IDisposable.Dispose()
    {
        List<Task> tasks;
        lock (_lock)
        {
            if (_closed)
                return;

            _closed = true;
            _stop.Cancel();
            foreach (DocumentIndexer indexer in _indexers.Values)
                _stopping.Add(indexer.StopAsync(deleteFiles: false));
            _indexers.Clear();
            tasks = [.. _stopping];
        }

        Task.WhenAll(tasks).GetAwaiter().GetResult();
        _stop.Dispose();
        _context.Turns.Dispose();
    }

    private static bool IsBetter(DocumentIndex index, DocumentIndex other) =>
        index.Progress.IsCaughtUp != other.Progress.IsCaughtUp
            ? index.Progress.IsCaughtUp
            : index.Definition.Fields.Count > other.Definition.Fields.Count;

    private static DocumentIndex OpenIndex(AutoIndexDefinition definition, IndexDirectory place, Func<DatabaseSnapshot> beginRead)
    {
        DocumentIndex index = DocumentIndex.Open(definition, place);
        using DatabaseSnapshot snapshot = beginRead();
        if (index.Writer.LastEtag <= snapshot.LastEtag)
            return index;

        // It has seen what these documents have not: they were put back to an earlier state. It is built again.
        index.Store.Dispose();
        place.DeleteStore();
        return DocumentIndex.Open(definition, place);
    }

    private DocumentIndex Make(AutoIndexDefinition definition) =>
        DocumentIndex.Create(definition, IndexDirectory.Create(_directory, definition, ++_generation, _sealed));

    private IReadOnlyList<DocumentIndex> Indexes()
    {
        lock (_lock)
            return [.. _indexers.Values.Select(i => i.Index)];
    }

    private void Add(DocumentIndex index)
    {
        lock (_lock)
        {
            var indexer = new DocumentIndexer(index, _context, _stop.Token);
            _indexers.Add(index.Name, indexer);
            indexer.Start(RemoveReplacedBy);
        }
    }

    private bool Remove(string name)
    {
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_closed, this);
            if (!_indexers.Remove(name, out DocumentIndexer? indexer))
                return false;

            _stopping.RemoveAll(t => t.IsCompleted);
            _stopping.Add(indexer.StopAsync(deleteFiles: true));
            return true;
        }
    }

    /// <summary>An index is complete: those that have nothing it has not are needed no more.</summary>
    private void RemoveReplacedBy(DocumentIndex index)
    {
        lock (_lock)
        {
            if (_closed || Find(index.Name) != index)
                return;

            foreach (DocumentIndex other in Indexes())
                if (other != index && other.Definition.IsFor(index.Definition.Collection) && index.Definition.Covers(other.Definition.Fields.ToArray()))
                    Remove(other.Name);
        }
    }

    private static IndexStatistics? Describe(DocumentIndex index, DatabaseSnapshot snapshot)
    {
        if (!index.TryHold())
            return null;

        try
        {
            using var searcher = new Indexing.IndexSearcher(index.Store);
            IndexProgress progress = index.Progress;
            return new IndexStatistics(
                index.Name,
                index.Definition.Collection,
                [.. index.Definition.Fields.Select(f => f.SchemaName)],
                IsStale(index, searcher.LastEtag, snapshot, snapshot.LastEtag),
                progress.IsFaulted ? IndexState.Error : IndexState.Normal,
                searcher.EntryCount,
                searcher.LastEtag,
                progress.LastBatch,
                progress.ErrorCount,
                progress.LastError);
        }
        finally
        {
            index.Release();
        }
    }
}
