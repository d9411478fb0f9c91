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
/// An index: its store and its holders. Queries hold a lease while they read; the files are deleted after the last holder
/// has released it. Thread-safe.
/// </summary>
/// <remarks>
/// Invariants: (1) nobody gets a lease after <see cref="Close"/>; (2) the store is open while anybody holds it; (3) files
/// are deleted only after their definition, and only when the store is closed; (4) a definition that replaces another starts
/// with the fields of the latter.
/// </remarks>
internal sealed class DocumentIndex
{
    /// <summary>
    /// The maximum number of changes in a tail: what can be indexed in a few hundred milliseconds, so that a query can wait
    /// for it.
    /// </summary>
    public const int MaxTailChanges = 16 * 1024;

    /// <summary>
    /// The maximum size of a tail's terms and vectors, in bytes. The vectors of a tail are compared one by one, so building
    /// a neighbor graph does not count.
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
    private long _wantedEtag;
    private long _begunAt;
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
        {
            _begunAt = IndexBeginning.Read(committed);
            Maps.Read(committed.FindTree(MapCounters.TreeName), Reduces);
        }

        Writer = new IndexWriter(store, definition.Schema, analyzers, AreNewFieldsEmpty);
        Progress = new IndexProgress(CompleteFields, definition.Schema.Fields.Count);
        foreach (CompoundField pair in (definition as StaticIndexMapping)?.Definition.CompoundFields ?? [])
            if (definition.Resolve(new AutoIndexField(pair.Equal)) is { } equal
                && definition.Resolve(new AutoIndexField(pair.Order)) is { } order)
                WantCompound(new CompoundKey(equal.SchemaName, order.SchemaName, CompoundOrder.Text));
    }

    /// <summary>
    /// The requested definition; while the index is being widened, its writer does not have all of the fields yet.
    /// </summary>
    public IndexMapping Definition => _definition;

    public string Name => Definition.Name;

    /// <summary>The name of its folder.</summary>
    public string Folder => _directory.Name;

    /// <summary>The only collection it covers; null if it covers several or all.</summary>
    public string? Collection => Definition.OnlyCollection;

    public StorageEnvironment Store { get; }

    /// <summary>The writer; used only by the indexing thread.</summary>
    public IndexWriter Writer { get; private set; }

    /// <summary>Its progress and errors.</summary>
    public IndexProgress Progress { get; }

    /// <summary>Completes when the last holder has released it and its store is closed.</summary>
    public Task Released => _released.Task;

    /// <summary>The number of fields, counted from the first, that all entries have.</summary>
    private int CompleteFields => Writer.Pending?.FirstField ?? Writer.Schema.Fields.Count;

    /// <summary>Called on any thread when there is something to do although no document has changed.</summary>
    public Action? Wanted { get; set; }

    /// <summary>The etag that is to be stored even if no change before it concerns the index.</summary>
    public long WantedEtag => Volatile.Read(ref _wantedEtag);

    /// <summary>Lets the index store an etag as soon as it has processed all changes up to it.</summary>
    public void WantEtag(long etag)
    {
        Volatile.Write(ref _wantedEtag, etag);
        Wanted?.Invoke();
    }

    /// <summary>
    /// Records that a query would be much cheaper with a compound key. Each key is recorded once while the index is open, up
    /// to the maximum number of compound keys.
    /// </summary>
    public void WantCompound(CompoundKey key)
    {
        lock (_lock)
        {
            if (_knownCompounds.Count == IndexWriter.MaxCompounds || !_knownCompounds.Add(key))
                return;
            _wantedCompounds.Enqueue(key);
        }

        Wanted?.Invoke();
    }

    /// <summary>Takes the next compound key requested by a query.</summary>
    public bool TryTakeWantedCompound([NotNullWhen(true)] out CompoundKey? key)
    {
        lock (_lock)
            return _wantedCompounds.TryDequeue(out key);
    }

    /// <summary>Creates a new index.</summary>
    /// <exception cref="IndexSchemaException">The definition cannot be used; nothing was changed.</exception>
    public static DocumentIndex Create(
        IndexMapping definition, IndexDirectory directory, AnalyzerSet analyzers, DatabaseSnapshot documents)
    {
        DocumentIndex? index = null;
        try
        {
            IndexWriter.Check(definition.Schema, analyzers);
            index = Begin(definition, directory, analyzers, documents);
            directory.Publish(definition);
            return index;
        }
        catch
        {
            index?.Store.Dispose();
            directory.Delete(); // it has no definition yet
            throw;
        }
    }

    /// <summary>
    /// Opens an index. It is cleared, to be rebuilt, if its store is damaged, belongs to other documents, or has indexed
    /// later etags than the documents have because they were restored to an earlier state, or needs tombstones that are gone, so
    /// that it cannot learn of deletions, or if this version finds fields in the text of its maps that its entries lack.
    /// </summary>
    /// <param name="definition">The requested definition.</param>
    /// <param name="directory">The directory of the index.</param>
    /// <param name="analyzers">The analyzers that fields may refer to.</param>
    /// <param name="documents">The documents.</param>
    /// <exception cref="IndexSchemaException">The definition cannot be used, for instance because an analyzer is missing; nothing
    /// was changed.</exception>
    public static DocumentIndex Open(
        IndexMapping definition, IndexDirectory directory, AnalyzerSet analyzers, DatabaseSnapshot documents)
    {
        IndexWriter.Check(definition.Schema, analyzers);
        try
        {
            DocumentIndex index = OpenStore(
                definition, directory, analyzers, (definition as StaticIndexMapping)?.FieldsOfText ?? 0);
            long known = index.KnownUpTo(index.Writer.LastEtag);
            if (known <= documents.LastEtag && known >= documents.PurgedUpTo)
                return index;
            index.Store.Dispose();
        }
        catch (Exception error)
            when (error is CorruptionException or ForeignDataException or IndexSchemaException or EncryptionKeyException)
        {
            // Clear it below.
        }

        directory.DeleteStore();
        return Begin(definition, directory, analyzers, documents);
    }

    /// <summary>
    /// Returns the etag up to which the index needs no tombstones: what it has indexed, or the state of the documents in which it
    /// began.
    /// </summary>
    /// <param name="indexedEtag">The etag up to which changes are indexed, of the index or a view of it.</param>
    public long KnownUpTo(long indexedEtag) => Math.Max(indexedEtag, _begunAt);

    /// <summary>Returns whether documents of a snapshot, up to an etag, are waiting to be indexed.</summary>
    public bool IsStale(long indexedEtag, DatabaseSnapshot snapshot, long upToEtag)
    {
        // Nothing is waiting if the index has processed all changes.
        using MappedChanges? feed = indexedEtag >= snapshot.LastEtag ? null : Changes(snapshot, indexedEtag);
        return feed is not null && feed.MoveNext() && feed.Etag <= upToEtag;
    }

    /// <summary>Returns whether documents from before it began wait to be indexed, so that it was never complete.</summary>
    public bool IsBeingBuilt(long indexedEtag, DatabaseSnapshot snapshot) =>
        indexedEtag < _begunAt && IsStale(indexedEtag, snapshot, _begunAt);

    /// <summary>Opens a consistent view. The caller must hold the index.</summary>
    public IndexSearcher OpenSearcher() => new(Store, _analyzers, Definition.Schema);

    /// <summary>Returns whether several entries of a view may be of the same document.</summary>
    public bool HasSeveralOfDocument(IndexSearcher searcher, IndexTail? tail) =>
        Definition.Map is { IsSingle: false, Source: IndexSourceType.Documents }
            && (tail is not null || OutputCounts.Any(searcher.FindTree));

    /// <summary>Returns the changes of a snapshot after an etag that concern the index.</summary>
    public MappedChanges Changes(DatabaseSnapshot snapshot, long afterEtag) => new(snapshot, Definition, afterEtag);

    /// <summary>
    /// Returns an empty batch for changes, with a range of the fields. May be called on any thread; each batch is used by
    /// one thread at a time.
    /// </summary>
    public MapBatch BeginBatch(FieldRange fields, TimeProvider timeProvider)
    {
        var extractor = new FieldExtractor(Definition, fields.First, fields.End);
        return Definition.Reduction is { } reduction
            ? new ResultBatch(
                Writer, new ResultWriter(reduction.Map, reduction.Reduce.Keys, timeProvider),
                new Reducer(reduction.Reduce, extractor, timeProvider, new ReduceCounters(), Outputs),
                new MappingAgain(reduction.Map, Store), Maps, Reduces, Outputs)
            : Definition.Map is { } map
                ? new ComputedBatch(
                    map, new ComputedEntries(map, extractor, timeProvider, Writer.BeginBatch()), Writer, Store, Maps)
                : new EntryBatch(Writer, new EntryWriter(extractor, timeProvider));
    }

    /// <summary>The counters of its map since it was built; unused if it does not compute.</summary>
    public MapCounters Maps { get; } = new();

    /// <summary>The documents it writes; null if it writes none.</summary>
    public ReduceOutputs? Outputs { get; }

    /// <summary>The warnings to return with its results.</summary>
    public IReadOnlyList<string> Warnings => Definition.Map is null && Definition.Reduction is null
        ? []
        : [.. Maps.Warnings(Name, Reduces), .. Outputs?.Warnings(Name) ?? []];

    /// <summary>The counters of its reduce since it was built; unused if it does not reduce.</summary>
    public ReduceCounters Reduces { get; } = new();

    /// <summary>Returns whether it covers a document.</summary>
    public bool Covers(Document document) =>
        Definition.CoversCollection(document.CollectionName) && Definition.Wants(document);

    /// <summary>
    /// Builds a small in-memory index of the changes of a snapshot that a view has not processed; the caller must dispose
    /// it. Returns null if there are more changes than <see cref="MaxTailChanges"/>, or more bytes than
    /// <see cref="MaxTailBytes"/>. The caller must hold the index.
    /// </summary>
    /// <param name="searcher">The view.</param>
    /// <param name="snapshot">The documents.</param>
    /// <param name="timeProvider">The clock.</param>
    /// <param name="refusal">If null is returned, the reason, as the end of a sentence whose subject is the index.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
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
                            + $"terms and vectors, or concern more than {MaxTailChanges:N0} documents";
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
    /// Sets up how changes become entries of a tail: one by one, or, if the index reduces, all at once in copies of the
    /// affected groups. Returns a function for the bytes held.
    /// </summary>
    private static Func<long> FillTail(
        IndexSearcher searcher, IndexMapping definition, FieldExtractor extractor, IndexBatch batch, TimeProvider timeProvider,
        out Action<MappedChanges> add, out Action finish, CancellationToken cancellationToken)
    {
        bool isTooMuch = false;
        if (definition.Map is { } map)
        {
            var computed = new ComputedEntries(map, extractor, timeProvider, batch);
            var again = new BesideOwners(map);
            add = feed =>
            {
                if (feed.IsOwn && again.Concerns(feed, searcher.FindTree))
                    computed.Add(feed);
                MapAgain(feed, again, () => batch.Count, () => batch.HeldBytes, key => computed.AddAgain(feed, key));
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

        var results = new ResultWriter(reduction.Map, reduction.Reduce.Keys, timeProvider);
        var documents = new MappedDocuments();
        var owners = new BesideOwners(reduction.Map);
        add = feed =>
        {
            if (feed.IsOwn && owners.Concerns(feed, searcher.FindTree))
                documents.Add(results.Map(feed));
            MapAgain(
                feed, owners, () => documents.Count, () => documents.SizeBytes,
                key =>
                {
                    if (results.MapAgain(feed, key) is { } document)
                        documents.Add(document);
                });
        };
        finish = () => new Reducer(reduction.Reduce, extractor, timeProvider, new ReduceCounters()).Apply(
            ReduceState.Over(searcher.FindTree), documents.Last, batch, cancellationToken);
        return () => isTooMuch ? long.MaxValue : documents.SizeBytes;

        // One change may affect any number of documents.
        void MapAgain(MappedChanges feed, BesideOwners owners, Func<long> count, Func<long> bytes, Action<byte[]> again)
        {
            foreach (byte[] key in MappingAgain.Of(feed, owners, searcher.FindTree))
            {
                if (isTooMuch |= count() > MaxTailChanges || bytes() > MaxTailBytes)
                    return;
                again(key);
                feed.Snapshot.ReleasePages();
                cancellationToken.ThrowIfCancellationRequested();
            }

            owners.Note(feed);
        }
    }

    /// <summary>Adds fields, durably; entries get them in the background. The caller must wake the indexer.</summary>
    /// <exception cref="IndexSchemaException">The definition cannot be used; nothing was changed.</exception>
    public void Widen(AutoIndexDefinition definition)
    {
        IndexWriter.Check(definition.Schema, _analyzers);
        _directory.Publish(definition);
        _definition = definition;
    }

    /// <summary>Adds fields named by documents, durably, before entries have them. Called on the indexing thread.</summary>
    /// <exception cref="ObjectDisposedException">The index is closed.</exception>
    public void AddDynamicFields(IReadOnlyCollection<DynamicField> fields)
    {
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_closed, this); // the definition may have been deleted and must not be written again
            StaticIndexMapping wider = ((StaticIndexMapping)Definition).With(fields); // only static indexes have dynamic fields
            _directory.Publish(wider);
            _definition = wider;
        }

        TryAddFields(out _);
    }

    /// <summary>
    /// Whether no existing entry has values for added fields: fields of a static index are added by the first document that
    /// names them.
    /// </summary>
    private bool AreNewFieldsEmpty => Definition is StaticIndexMapping;

    /// <summary>
    /// Records that a query used a field; -1 for none. Members about uses require the lock of the catalogue, if they do not say
    /// otherwise.
    /// </summary>
    public void NoteUse(int field, DateTimeOffset now)
    {
        LastUse = now.UtcTicks;
        if (field < 0)
            return;
        if (_lastUses.Length <= field)
        {
            int known = _lastUses.Length;
            Array.Resize(ref _lastUses, Math.Max(field + 1, Definition.Fields.Count));
            Array.Fill(_lastUses, now.UtcTicks, known, _lastUses.Length - known); // new fields count as used now
        }

        _lastUses[field] = now.UtcTicks;
    }

    /// <summary>Same as above, for several fields, without the lock: a note that is lost by a race is made soon again.</summary>
    public void NoteUse(ReadOnlySpan<int> fields, DateTimeOffset now)
    {
        long ticks = LastUse = now.UtcTicks;
        long[] uses = _lastUses;
        foreach (int field in fields)
            if ((uint)field < (uint)uses.Length)
                uses[field] = ticks;
    }

    /// <summary>Records that the index was used by name, with any of its fields.</summary>
    public void NoteUse(DateTimeOffset now)
    {
        LastUse = now.UtcTicks;
        Array.Fill(_lastUses, now.UtcTicks);
    }

    /// <summary>When a field was last used, or the index was opened, in UTC ticks.</summary>
    public long LastUseTicks(int field) => field < _lastUses.Length ? _lastUses[field] : long.MaxValue;

    /// <summary>When the index was last used, or opened, in UTC ticks.</summary>
    public long LastUse { get; private set; } = long.MaxValue;

    /// <summary>
    /// Adds the fields of the definition that the writer does not have, on the indexing thread. Returns false if there are
    /// none.
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

    /// <summary>Reports the available fields to waiters.</summary>
    public void ReportFields() => Progress.ReportFields(CompleteFields, Writer.Schema.Fields.Count);

    /// <summary>Deletes the errors of documents, unless the index is closed.</summary>
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

    /// <summary>Re-encrypts the store. The caller must hold the index.</summary>
    public KeyRotationReport RotateDataKey(IProgress<KeyRotationProgress>? progress, CancellationToken cancellationToken)
    {
        using EncryptionKey key = _directory.Key()
            ?? throw new InvalidOperationException($"The index '{Name}' is not encrypted.");
        return Store.RotateDataKey(key, progress, cancellationToken);
    }

    /// <summary>Acquires a hold; returns false if the index is closed.</summary>
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

    /// <summary>Releases a hold.</summary>
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

    /// <summary>Prevents new holds and releases the hold of the catalogue.</summary>
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

    private static DocumentIndex Begin(
        IndexMapping definition, IndexDirectory directory, AnalyzerSet analyzers, DatabaseSnapshot documents)
    {
        DocumentIndex index = OpenStore(definition, directory, analyzers);
        try
        {
            IndexBeginning.Write(index.Store, documents.LastEtag);
        }
        catch
        {
            index.Store.Dispose();
            throw;
        }

        index._begunAt = documents.LastEtag;
        return index;
    }

    /// <param name="definition">The definition.</param>
    /// <param name="directory">The directory of the index.</param>
    /// <param name="analyzers">The analyzers that fields may refer to.</param>
    /// <param name="minFields">The number of fields that an index which exists has at least.</param>
    /// <exception cref="IndexSchemaException">It exists and has fewer fields, or others.</exception>
    private static DocumentIndex OpenStore(
        IndexMapping definition, IndexDirectory directory, AnalyzerSet analyzers, int minFields = 0)
    {
        StorageEnvironment store = directory.OpenStore();
        try
        {
            if (minFields > 0)
            {
                using var existing = new IndexSearcher(store, analyzers, definition.Schema);
                if (existing.Schema.Fields.Count is > 0 and var count && count < minFields)
                    throw new IndexSchemaException($"The index has {count} fields, its definition says {minFields}.");
            }

            return new DocumentIndex(definition, directory, analyzers, store);
        }
        catch
        {
            store.Dispose();
            throw;
        }
    }
}
