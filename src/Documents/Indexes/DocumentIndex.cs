using System.Diagnostics.CodeAnalysis;
using Treepie.Indexes.Computed;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Directories;
using Treepie.Indexes.Extraction;
using Treepie.Indexes.Outputs;
using Treepie.Indexes.Reducing;
using Treepie.Indexes.States;
using Treepie.Indexing;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// One index: its store, and who holds it. Queries hold a lease while they read; the files go when the last holder is gone.
/// Thread-safe.
/// </summary>
/// <remarks>
/// Invariants: (1) nobody gets a lease after <see cref="Close"/>; (2) the store is open while anybody holds it; (3) files are
/// deleted only after their definition, and only when the store is closed; (4) a definition that takes the place of another
/// begins with its fields.
/// </remarks>
internal sealed class DocumentIndex
{
    /// <summary>
    /// Most changes of a tail: what is indexed in some hundred milliseconds, which a query can wait for itself.
    /// </summary>
    public const int MaxTailChanges = 16 * 1024;

    /// <summary>
    /// Most bytes of a tail's terms and vectors. Vectors of a tail are compared one by one, so the work of finding neighbours
    /// does not count.
    /// </summary>
    public const long MaxTailBytes = 32 * 1024 * 1024;

    private readonly Lock _lock = new();
    private readonly IndexDirectory _directory;
    private readonly AnalyzerSet _analyzers;
    private readonly TaskCompletionSource _released = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile IndexMapping _definition;
    private readonly HashSet<CompoundKey> _knownCompounds = [];
    private readonly Queue<CompoundKey> _wantedCompounds = [];
    private long[] _lastUses = [];
    private int _holders = 1; // the catalogue
    private bool _closed;
    private bool _deleteFiles;

    private DocumentIndex(IndexMapping definition, IndexDirectory directory, AnalyzerSet analyzers, StorageEnvironment store)
    {
        _definition = definition;
        _directory = directory;
        _analyzers = analyzers;
        Outputs = definition.Output is { } target ? new ReduceOutputs(target) : null;
        Store = store;
        using (ReadTransaction committed = store.BeginRead())
            Maps.Read(committed.FindTree(MapCounters.TreeName), Reduces);
        Writer = new IndexWriter(store, definition.Schema, analyzers, AreNewFieldsEmpty);
        Progress = new IndexProgress(CompleteFields, definition.Schema.Fields.Count);
        foreach (CompoundField pair in (definition as StaticIndexMapping)?.Definition.CompoundFields ?? [])
            if (definition.Resolve(new AutoIndexField(pair.Equal)) is { } equal
                && definition.Resolve(new AutoIndexField(pair.Order)) is { } order)
                WantCompound(new CompoundKey(equal.SchemaName, order.SchemaName, CompoundOrder.Text));
    }

    /// <summary>What is wanted; while it is widened, its writer has not all of the fields yet.</summary>
    public IndexMapping Definition => _definition;

    public string Name => Definition.Name;

    /// <summary>Name of its folder.</summary>
    public string Folder => _directory.Name;

    /// <summary>The collection its documents are in; null: several, or all.</summary>
    public string? Collection => Definition.OnlyCollection;

    public StorageEnvironment Store { get; }

    /// <summary>Of the thread that indexes.</summary>
    public IndexWriter Writer { get; private set; }

    /// <summary>How far it is and what went wrong.</summary>
    public IndexProgress Progress { get; }

    /// <summary>Completes when nobody holds it any more and its store is closed.</summary>
    public Task Released => _released.Task;

    /// <summary>Fields that every entry has, from the first on.</summary>
    private int CompleteFields => Writer.Pending?.FirstField ?? Writer.Schema.Fields.Count;

    /// <summary>Called when a query wants a compound key; may be called on any thread.</summary>
    public Action? CompoundWanted { get; set; }

    /// <summary>
    /// Notes that a query would be much cheaper with a compound key. Each is noted once while the index is open, and not more
    /// than there may be.
    /// </summary>
    public void WantCompound(CompoundKey key)
    {
        lock (_lock)
        {
            if (_knownCompounds.Count == IndexWriter.MaxCompounds || !_knownCompounds.Add(key))
                return;
            _wantedCompounds.Enqueue(key);
        }

        CompoundWanted?.Invoke();
    }

    /// <summary>The next compound key that a query wanted.</summary>
    public bool TryTakeWantedCompound([NotNullWhen(true)] out CompoundKey? key)
    {
        lock (_lock)
            return _wantedCompounds.TryDequeue(out key);
    }

    /// <summary>Makes a new index.</summary>
    public static DocumentIndex Create(IndexMapping definition, IndexDirectory directory, AnalyzerSet analyzers)
    {
        DocumentIndex index = OpenStore(definition, directory, analyzers);
        directory.Publish(definition);
        return index;
    }

    /// <summary>
    /// Opens an index. One whose store is damaged, or not of these documents, is emptied, to be built again; so is one that has
    /// seen what these documents have not, as they were put back to an earlier state.
    /// </summary>
    /// <param name="definition">What is wanted.</param>
    /// <param name="directory">Where it lies.</param>
    /// <param name="analyzers">The analyzers that fields may name.</param>
    /// <param name="lastEtag">The last etag of the documents.</param>
    /// <exception cref="IndexSchemaException">An analyzer is missing; nothing was changed.</exception>
    public static DocumentIndex Open(IndexMapping definition, IndexDirectory directory, AnalyzerSet analyzers, long lastEtag)
    {
        IndexWriter.Check(definition.Schema, analyzers);
        try
        {
            DocumentIndex index = OpenStore(definition, directory, analyzers);
            if (index.Writer.LastEtag <= lastEtag)
                return index;
            index.Store.Dispose();
        }
        catch (Exception error)
            when (error is CorruptionException or ForeignDataException or IndexSchemaException or EncryptionKeyException)
        {
            // It is emptied.
        }

        directory.DeleteStore();
        return OpenStore(definition, directory, analyzers);
    }

    /// <summary>Whether documents of a snapshot, up to an etag, wait to be indexed.</summary>
    public bool IsStale(long indexedEtag, DatabaseSnapshot snapshot, long upToEtag)
    {
        // it has seen every change there is
        using MappedChanges? feed = indexedEtag >= snapshot.LastEtag ? null : Changes(snapshot, indexedEtag);
        return feed is not null && feed.MoveNext() && feed.Etag <= upToEtag;
    }

    /// <summary>An unchanging view of it. Whoever calls holds the index.</summary>
    public IndexSearcher OpenSearcher() => new(Store, _analyzers, Definition.Schema);

    /// <summary>Changes of a snapshot after an etag that concern it.</summary>
    public MappedChanges Changes(DatabaseSnapshot snapshot, long afterEtag) => new(snapshot, Definition, afterEtag);

    /// <summary>
    /// An empty batch for changes, with some of the fields. May be called from any thread, and batches be filled by one thread
    /// each.
    /// </summary>
    public MapBatch BeginBatch(FieldRange fields, TimeProvider timeProvider)
    {
        var extractor = new FieldExtractor(Definition, fields.First, fields.End);
        return Definition.Reduction is { } reduction
            ? new ResultBatch(
                Writer, new ResultWriter(reduction.Map, reduction.Reduce.Keys, timeProvider, Maps),
                new Reducer(reduction.Reduce, extractor, timeProvider, Reduces, Outputs),
                new MappingAgain(reduction.Map, Store), Maps, Reduces, Outputs)
            : Definition.Map is { } map
                ? new ComputedBatch(
                    map, new ComputedEntries(map, extractor, timeProvider, Writer.BeginBatch(), Maps), Writer, Store)
                : new EntryBatch(Writer, new EntryWriter(extractor, timeProvider));
    }

    /// <summary>How mapping has gone since it was built; nothing where it does not compute.</summary>
    public MapCounters Maps { get; } = new();

    /// <summary>The documents it writes; null: it writes none.</summary>
    public ReduceOutputs? Outputs { get; }

    /// <summary>What is said beside its answers.</summary>
    public IReadOnlyList<string> Warnings => Definition.Map is null && Definition.Reduction is null
        ? []
        : [.. Maps.Warnings(Name, Reduces), .. Outputs?.Warnings(Name) ?? []];

    /// <summary>What reducing has taken since it was built; nothing where it does not reduce.</summary>
    public ReduceCounters Reduces { get; } = new();

    /// <summary>Whether a document belongs into it.</summary>
    public bool Covers(Document document) =>
        Definition.CoversCollection(document.CollectionName) && Definition.Wants(document);

    /// <summary>
    /// The changes of a snapshot that a view of the index has not seen, as a small index in memory, to be disposed; null if they
    /// are more than <see cref="MaxTailChanges"/>, or would make more than <see cref="MaxTailBytes"/>. Whoever calls holds the
    /// index.
    /// </summary>
    /// <param name="searcher">The view.</param>
    /// <param name="snapshot">The documents.</param>
    /// <param name="timeProvider">The clock.</param>
    /// <param name="refusal">Where it is null: why, as the end of a sentence that begins with the index.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public IndexTail? TryBuildTail(
        IndexSearcher searcher, DatabaseSnapshot snapshot, TimeProvider timeProvider, out string? refusal,
        CancellationToken cancellationToken)
    {
        refusal = null;
        using EncryptionKey? key = _directory.Key();
        var tail = new IndexTail(searcher, _analyzers, key);
        try
        {
            IndexBatch batch = tail.BeginBatch();
            IndexMapping definition = Definition;
            var extractor = new FieldExtractor(definition, 0, searcher.Schema.Fields.Count);
            Func<long> held = FillTail(
                searcher, definition, extractor, batch, timeProvider, out Action<MappedChanges> add, out Action finish,
                cancellationToken);
            int count = 0;
            using MappedChanges feed = Changes(snapshot, searcher.LastEtag);
            for (bool more = feed.MoveNext(); more || held() > MaxTailBytes; more = feed.MoveNext())
            {
                if (count == MaxTailChanges || held() > MaxTailBytes)
                {
                    refusal = count == MaxTailChanges
                        ? $"is more than {MaxTailChanges:N0} changes behind"
                        : $"is behind by changes of which the first {count:N0} alone have more than {MaxTailBytes >> 20} MiB of "
                            + $"terms and vectors";
                    tail.Dispose();
                    return null;
                }

                add(feed);
                count++;
                snapshot.ReleasePages(); // the batch has copied what it needs
                cancellationToken.ThrowIfCancellationRequested();
            }

            finish();
            if (extractor.NewFields.Count > 0)
            {
                refusal = "is behind by documents that name fields which it has yet to be given";
                tail.Dispose();
                return null;
            }

            tail.Fill(batch, cancellationToken);
            return tail;
        }
        catch
        {
            tail.Dispose();
            throw;
        }
    }

    /// <summary>
    /// How changes become entries of a tail: each as it comes, or, where the index reduces, all at once in copies of the groups
    /// they touch.
    /// </summary>
    private static Func<long> FillTail(
        IndexSearcher searcher, IndexMapping definition, FieldExtractor extractor, IndexBatch batch, TimeProvider timeProvider,
        out Action<MappedChanges> add, out Action finish, CancellationToken cancellationToken)
    {
        if (definition.Map is { } map)
        {
            var computed = new ComputedEntries(map, extractor, timeProvider, batch, new MapCounters());
            var again = new BesideOwners(map);
            bool isTooMuch = false;
            add = feed =>
            {
                if (feed.IsOwn && again.Concerns(feed, searcher.FindTree))
                    computed.Add(feed);
                foreach (byte[] key in MappingAgain.Of(feed, again, searcher.FindTree))
                {
                    if (isTooMuch |= batch.Count > MaxTailChanges || batch.HeldBytes > MaxTailBytes)
                        return; // a change may concern any number of documents
                    computed.AddAgain(feed, key);
                }

                again.Note(feed);
            };
            finish = () => computed.RemoveLeftOver(OutputCounts.Over(searcher.FindTree));
            return () => isTooMuch ? long.MaxValue : batch.HeldBytes;
        }

        if (definition.Reduction is not { } reduction)
        {
            var entries = new EntryWriter(extractor, timeProvider);
            add = feed => entries.Add(feed, batch);
            finish = static () => { };
            return () => batch.HeldBytes;
        }

        var results = new ResultWriter(reduction.Map, reduction.Reduce.Keys, timeProvider, new MapCounters());
        var documents = new MappedDocuments();
        var owners = new BesideOwners(reduction.Map);
        add = feed =>
        {
            if (feed.IsOwn && owners.Concerns(feed, searcher.FindTree))
                documents.Add(results.Map(feed));
            foreach (byte[] key in MappingAgain.Of(feed, owners, searcher.FindTree))
                if (results.MapAgain(feed, key) is { } document)
                    documents.Add(document);
            owners.Note(feed);
        };
        finish = () => new Reducer(reduction.Reduce, extractor, timeProvider, new ReduceCounters()).Apply(
            ReduceState.Over(searcher.FindTree), documents.Last, batch, cancellationToken);
        return () => documents.SizeBytes;
    }

    /// <summary>Gives it more fields, durably: entries get them in the background. Whoever calls wakes the indexer.</summary>
    public void Widen(AutoIndexDefinition definition)
    {
        _directory.Publish(definition);
        _definition = definition;
    }

    /// <summary>
    /// Gives it fields that documents have named, durably, before entries have them; on the thread that indexes.
    /// </summary>
    /// <exception cref="ObjectDisposedException">It is closed.</exception>
    public void AddDynamicFields(IReadOnlyCollection<DynamicField> fields)
    {
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_closed, this); // its definition may be gone: it is not to come back
            StaticIndexMapping wider = ((StaticIndexMapping)Definition).With(fields); // no other kind has such fields
            _directory.Publish(wider);
            _definition = wider;
        }

        TryAddFields(out _);
    }

    /// <summary>
    /// Whether no entry has values of fields that it is given: a document has named them that it has not seen.
    /// </summary>
    private bool AreNewFieldsEmpty => Definition is StaticIndexMapping;

    /// <summary>Notes that a query has used a field. In the lock of the catalogue, as all about uses.</summary>
    public void NoteUse(int field, DateTimeOffset now)
    {
        LastUse = now.UtcTicks;
        if (field < 0)
            return;
        if (_lastUses.Length <= field)
        {
            int known = _lastUses.Length;
            Array.Resize(ref _lastUses, Math.Max(field + 1, Definition.Fields.Count));
            Array.Fill(_lastUses, now.UtcTicks, known, _lastUses.Length - known); // what is new was not unused for long
        }

        _lastUses[field] = now.UtcTicks;
    }

    /// <summary>Notes that somebody named it, who may use any field.</summary>
    public void NoteUse(DateTimeOffset now)
    {
        LastUse = now.UtcTicks;
        Array.Fill(_lastUses, now.UtcTicks);
    }

    /// <summary>When a field was last used, or the index was opened, in ticks of UTC.</summary>
    public long LastUseTicks(int field) => field < _lastUses.Length ? _lastUses[field] : long.MaxValue;

    /// <summary>When it was last used, or opened, in ticks of UTC.</summary>
    public long LastUse { get; private set; } = long.MaxValue;

    /// <summary>
    /// Adds the fields that are wanted and the writer has not; on the thread that indexes. False if there are none.
    /// </summary>
    public bool TryAddFields(out IndexMapping definition)
    {
        definition = Definition;
        if (Writer.Schema.Fields.Count >= definition.Schema.Fields.Count)
            return false;

        Writer = new IndexWriter(Store, definition.Schema, _analyzers, AreNewFieldsEmpty);
        ReportFields();
        return true;
    }

    /// <summary>Says to those who wait which fields are there.</summary>
    public void ReportFields() => Progress.ReportFields(CompleteFields, Writer.Schema.Fields.Count);

    /// <summary>Forgets the errors of documents, unless it is closed.</summary>
    public void ClearErrors()
    {
        if (!TryHold())
            return;
        try
        {
            Writer.ClearErrors();
            Maps.Clear();
            if (Definition.AnyMap is not null)
                Store.Write(static transaction => transaction.DropTree(MapCounters.TreeName));
        }
        finally
        {
            Release();
        }
    }

    /// <summary>Encrypts the store anew. Whoever calls holds it.</summary>
    public KeyRotationReport RotateDataKey(IProgress<KeyRotationProgress>? progress, CancellationToken cancellationToken)
    {
        using EncryptionKey key = _directory.Key()
            ?? throw new InvalidOperationException($"The index '{Name}' is not encrypted.");
        return Store.RotateDataKey(key, progress, cancellationToken);
    }

    /// <summary>Begins to hold it; false when it is closed.</summary>
    public bool TryHold()
    {
        lock (_lock)
        {
            if (_closed)
                return false;

            _holders++;
            return true;
        }
    }

    /// <summary>Ends one hold.</summary>
    public void Release()
    {
        lock (_lock)
            if (--_holders > 0)
                return;

        Store.Dispose();
        if (_deleteFiles)
            _directory.Delete();
        _released.TrySetResult();
    }

    /// <summary>Lets nobody in any more and gives up the catalogue's hold.</summary>
    public void Close(bool deleteFiles)
    {
        lock (_lock)
        {
            if (_closed)
                return;

            _closed = true;
            _deleteFiles = deleteFiles;
        }

        if (deleteFiles)
            _directory.Retract();
        Progress.Close();
        Release();
    }

    private static DocumentIndex OpenStore(IndexMapping definition, IndexDirectory directory, AnalyzerSet analyzers)
    {
        StorageEnvironment store = directory.OpenStore();
        try
        {
            return new DocumentIndex(definition, directory, analyzers, store);
        }
        catch
        {
            store.Dispose();
            throw;
        }
    }
}
