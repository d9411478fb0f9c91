using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Treepie.Archiving;
using Treepie.Encryption;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Directories;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Packing;
using Treepie.Queries;
using Treepie.Revisions;
using Treepie.Sessions;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie;

/// <summary>
/// A document database in one directory, embedded in this process. Thread-safe. Writes are acknowledged only when they are
/// durable; readers see an immutable snapshot and never block.
/// </summary>
public sealed partial class Database : IDocumentStore, ISessionHost
{
    private readonly ChangeVectors _changeVectors;
    private readonly CollectionNames _collectionNames = new();
    private readonly BodyDictionaries _dictionaries;
    private readonly ChangeSignal _changes = new();
    private readonly QueryExecutor _queries;
    private readonly DatabaseWrites _writes;
    private readonly SharedDefinitions? _shared;
    private readonly ConditionalWeakTable<SessionOptions, EntityTypes> _entityTypes = [];
    private SessionOptions? _reflectionOptions;
    private TemporaryPlace? _place;
    private int _disposed;

    /// <summary>Opens the database in an environment, which it disposes.</summary>
    /// <param name="directory">The directory of the database.</param>
    /// <param name="environment">The environment of the documents.</param>
    /// <param name="options">The options.</param>
    /// <param name="shared">Definitions that it shares with other databases, or null.</param>
    /// <param name="openIndexStore">Opens the store of an index in a directory; null: in files.</param>
    internal Database(
        string directory, StorageEnvironment environment, DatabaseOptions options, SharedDefinitions? shared = null,
        Func<string, StorageOptions, StorageEnvironment>? openIndexStore = null)
    {
        _shared = shared;
        DataDirectory = directory;
        Options = options with { EncryptionKey = null, IsEncrypted = environment.IsEncrypted };
        Name = options.Name ?? Path.GetFileName(directory);
        Environment = environment;
        Imports = new ImportGate(environment);
        Id = DatabaseFormat.EnsureCreated(environment, directory);
        UnfinishedUploads.Drop(environment);
        Log = new DatabaseLog(environment, directory);
        Log.Resume();
        _changeVectors = new ChangeVectors(Id);
        _dictionaries = new BodyDictionaries(isSecret: environment.IsEncrypted);
        _writes = new DatabaseWrites(
            environment, _changeVectors, _dictionaries, _changes, () => Imports.KeepsUnused,
            () => Lifecycle?.ScheduleValues(), Name, options.TimeProvider);
        using (DatabaseSnapshot snapshot = BeginRead())
            _changes.Publish(snapshot.LastEtag);
        SealedDefinitions? sealedDefinitions = environment.IsEncrypted
            ? new SealedDefinitions(environment, options.DecryptedBudgetBytes)
            : null;
        Compression = new DocumentCompression(this, _dictionaries);
        try
        {
            // Index workers start here and may write documents, so everything that WriteAsync uses is set.
            Indexes = IndexCatalogue.Open(
                IndexesDirectory,
                new IndexingContext(
                    BeginRead, _changes, options.TimeProvider, options.Analyzers, options.Indexing, options.Computing,
                    (batch, stop) => WriteAsync(batch, wantsResults: false, stop))
                {
                    WriteSetting = WriteSetting,
                    SharedAnalyzers = () => shared?.Analyzers ?? [],
                    OpenStore = openIndexStore ?? StorageEnvironment.Open,
                },
                new StaticDefinitions(environment, options.TimeProvider), sealedDefinitions,
                new IndexSettingsStore(environment));
        }
        catch
        {
            Compression.Dispose();
            throw;
        }

        Sorters = new DatabaseSorters(BeginRead, WriteSetting, () => shared?.Sorters ?? [], Options.CustomOrders);
        _queries = new QueryExecutor(Indexes, BeginRead, _changes, Options, Sorters.Orders, Name);
        HiLoIds = new HiLoIds(NextHiLoRange);
        Revisions = new DocumentRevisions(this);
        Lifecycle = new DocumentLifecycle(this);
        TimeSeriesPolicies = new TimeSeriesPolicies(this);
        Tombstones = new TombstoneCleaning(this);
        Settings = new DatabaseSettings(this);
        if (shared is null)
            return;
        shared.AnalyzersChanged += RefreshAnalyzers;
        // Analyzers may have changed since the indexes were opened. If this fails, they keep those they were built with.
        RefreshAnalyzers([]);
    }

    /// <summary>The name of the database; that of the directory unless the options specify one.</summary>
    public string Name { get; }

    /// <summary>The id generated when the database was created; part of its change vectors.</summary>
    public Guid Id { get; }

    /// <summary>The full path of the directory that contains all of its files.</summary>
    public string DataDirectory { get; }

    /// <summary>The options with which it was opened, except its key, which is not kept.</summary>
    public DatabaseOptions Options { get; }

    /// <summary>Whether all files of the database are encrypted.</summary>
    public bool IsEncrypted => Environment.IsEncrypted;

    /// <summary>The indexes of the database.</summary>
    public IndexCatalogue Indexes { get; }

    /// <summary>Expiration, refresh and archival of documents.</summary>
    public DocumentLifecycle Lifecycle { get; }

    /// <summary>Retention and roll-up policies of time series.</summary>
    public TimeSeriesPolicies TimeSeriesPolicies { get; }

    internal TombstoneCleaning Tombstones { get; }

    /// <summary>Sorters stored in this database, for <c>order by custom(Field, 'Name')</c>.</summary>
    public DatabaseSorters Sorters { get; }

    /// <summary>Compression of documents.</summary>
    public DocumentCompression Compression { get; }

    /// <summary>Settings that programs store in the database.</summary>
    public DatabaseSettings Settings { get; }

    /// <summary>Revisions of documents.</summary>
    public DocumentRevisions Revisions { get; }

    /// <summary>The etag of the last durable change; does not open a snapshot.</summary>
    public long LastEtag => _changes.LastEtag;

    /// <summary>Whether it has background work, now or at a scheduled time.</summary>
    internal bool HasWork =>
        Lifecycle.IsScheduled
        || TimeSeriesPolicies.IsScheduled
        || Compression.HasWork
        || Indexes.List().Any(static index => index is { IsStale: true, State: IndexState.Normal, IsPaused: false });

    /// <summary>The archived log of the database.</summary>
    internal DatabaseLog Log { get; }

    EntityTypes ISessionHost.EntityTypesOf(SessionOptions options) =>
        _entityTypes.GetValue(options, static own => new EntityTypes(own));

    /// <summary>Generates ids for entities of sessions.</summary>
    internal HiLoIds HiLoIds { get; }

    HiLoIds ISessionHost.HiLoIds => HiLoIds;

    internal StorageEnvironment Environment { get; }

    StorageEnvironment IWriteHost.Environment => Environment;

    /// <summary>Held by the only compaction that may run at a time.</summary>
    internal OneAtATime Compacting { get; } = new();

    /// <summary>Imports in progress.</summary>
    internal ImportGate Imports { get; }

    /// <summary>The directory of the indexes' environments, with one folder each; created by the first index.</summary>
    internal string IndexesDirectory => Path.Combine(DataDirectory, DatabaseFormat.IndexesFolder);

    /// <summary>Opens the database in a directory; creates it if it does not exist.</summary>
    /// <exception cref="ForeignDataException">The directory contains other data.</exception>
    /// <exception cref="EnvironmentLockedException">The database is open in another process.</exception>
    /// <exception cref="EncryptionKeyException">The database is encrypted and the key is missing or wrong, or it is not encrypted
    /// and a key was given; nothing was changed.</exception>
    /// <exception cref="StorageException">Its files cannot be read or written; the message says which and why.</exception>
    public static Database Open(string path, DatabaseOptions? options = null) => Open(path, options, shared: null);

    /// <summary>
    /// Opens an encrypted database with a key that is read for it. <see cref="DatabaseOptions.EncryptionKey"/> is not used.
    /// </summary>
    /// <param name="path">The directory, created if it does not exist.</param>
    /// <param name="options">The options.</param>
    /// <param name="key">Where the key is read from.</param>
    /// <exception cref="KeySourceException">The key cannot be read.</exception>
    public static Database Open(string path, DatabaseOptions? options, KeySource key)
    {
        ArgumentNullException.ThrowIfNull(key);
        using EncryptionKey read = key.Read();
        return Open(path, (options ?? new DatabaseOptions()) with { EncryptionKey = read });
    }

    /// <summary>Opens a database that shares definitions with others.</summary>
    internal static Database Open(string path, DatabaseOptions? options, SharedDefinitions? shared)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        options ??= new DatabaseOptions();
        options.Validate();
        string directory = Path.TrimEndingDirectorySeparator(Path.GetFullPath(path));
        StorageEnvironment environment = DatabaseFormat.OpenDocuments(
            directory, options.EncryptionKey, options.DecryptedBudgetBytes);
        try
        {
            return new Database(directory, environment, options, shared);
        }
        catch
        {
            environment.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Creates a database that is deleted when it is disposed, for tests. It is stored in shared memory if the system has it
    /// (Linux), otherwise in the directory for temporary files, and behaves like any other database. If the process is killed, a
    /// directory <c>treepie-…</c> remains.
    /// </summary>
    public static Database OpenInMemory(DatabaseOptions? options = null)
    {
        var place = new TemporaryPlace();
        Database database = Open(place.Path, (options ?? new DatabaseOptions()) with { Name = options?.Name ?? "memory" });
        database._place = place;
        return database;
    }

    /// <summary>
    /// Opens a snapshot: an immutable view of all documents, to be disposed by the caller. Snapshots are not thread-safe.
    /// </summary>
    public DatabaseSnapshot BeginRead()
    {
        ObjectDisposedException.ThrowIf(_disposed != 0, this);
        ReadTransaction transaction = Environment.BeginRead();
        try
        {
            return new DatabaseSnapshot(transaction, _collectionNames, _dictionaries, _changeVectors);
        }
        catch
        {
            transaction.Dispose();
            throw;
        }
    }

    /// <summary>Returns a snapshot over a read transaction that the caller disposes.</summary>
    internal DatabaseSnapshot ReadOf(ReadTransaction transaction) =>
        new(transaction, _collectionNames, _dictionaries, _changeVectors, ownsTransaction: false);

    /// <summary>Executes all commands of a batch atomically; completes when they are durable.</summary>
    /// <exception cref="ConcurrencyException">A document does not have the expected change vector.</exception>
    /// <exception cref="InvalidDocumentException">An id, body or metadata is not valid or exceeds a limit.</exception>
    public async Task<IReadOnlyList<WriteResult>> WriteAsync(WriteBatch batch, CancellationToken cancellationToken = default) =>
        await WriteAsync(batch, wantsResults: true, cancellationToken).ConfigureAwait(false);

    /// <summary>Starts a bulk insert, which stores many documents in durable batches. Must be disposed.</summary>
    public BulkInsert BulkInsert(BulkInsertOptions? options = null) => new(this, options ?? new BulkInsertOptions());

    /// <summary>Starts the upload of the content of an attachment. Must be disposed.</summary>
    public AttachmentUpload BeginUpload()
    {
        ObjectDisposedException.ThrowIf(_disposed != 0, this);
        return new AttachmentUpload(Environment, Options.MaxAttachmentBytes);
    }

    /// <summary>Returns an inspector of the contents of an index.</summary>
    /// <param name="indexName">The name of the index.</param>
    /// <param name="neverStale">Whether to include documents that the index has not processed yet, as if it had.</param>
    /// <exception cref="IndexNotFoundException">The index does not exist.</exception>
    public IndexContent LookInto(string indexName, bool neverStale = false) =>
        new(
            Indexes.Find(indexName) ?? throw new IndexNotFoundException(indexName), Options.TimeProvider,
            neverStale ? BeginRead : null);

    /// <summary>Executes a query. See <see cref="QueryResults"/> for reading the results.</summary>
    /// <exception cref="InvalidQueryException">The query is not valid; the message gives line and column.</exception>
    /// <exception cref="IndexNotFoundException">The index named by the query does not exist.</exception>
    /// <exception cref="TimeoutException">Finding the results took longer than
    /// <see cref="DatabaseOptions.MaxQueryTime"/>.</exception>
    public Task<QueryResults> QueryAsync(QueryRequest request, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        return _queries.ExecuteAsync(request, cancellationToken);
    }

    /// <summary>
    /// Returns the index that would answer a query, followed by the others with the reasons why they would not. The query is not
    /// executed, and no index is created for it.
    /// </summary>
    /// <exception cref="InvalidQueryException">The query is not valid; the message gives line and column.</exception>
    /// <exception cref="IndexNotFoundException">The index named by the query does not exist.</exception>
    public IReadOnlyList<IndexChoice> IndexChoices(QueryRequest request, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        return _queries.Choices(request, cancellationToken);
    }

    /// <summary>Opens a session that serializes entities by reflection over their public properties.</summary>
    /// <remarks>
    /// In trimmed or AOT-compiled programs, use <see cref="OpenSession(SessionOptions)"/> with a source-generated context.
    /// </remarks>
    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    public DocumentSession OpenSession() => OpenSession(DefaultSession);

    /// <summary>
    /// Opens a session with changed options: <c>OpenSession(o => o with { UseOptimisticConcurrency = true })</c>.
    /// </summary>
    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    public DocumentSession OpenSession(Func<SessionOptions, SessionOptions> change)
    {
        ArgumentNullException.ThrowIfNull(change);
        return OpenSession(change(DefaultSession));
    }

    /// <summary>The default options of sessions.</summary>
    internal SessionOptions DefaultSession
    {
        [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
        get => _reflectionOptions ??=
            new() { Json = Options.Json ?? EntityJsonOptions.ByReflection(Options.MaxDocumentDepth) };
    }

    /// <summary>Opens a session with the specified options.</summary>
    public DocumentSession OpenSession(SessionOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        ObjectDisposedException.ThrowIf(_disposed != 0, this);
        return new DocumentSession(this, options);
    }

    /// <summary>Same as <see cref="OpenSession()"/>, returned as the asynchronous interface.</summary>
    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    public IAsyncDocumentSession OpenAsyncSession() => OpenSession();

    /// <summary>
    /// Same as <see cref="OpenSession(Func{SessionOptions, SessionOptions})"/>, returned as the asynchronous interface.
    /// </summary>
    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    public IAsyncDocumentSession OpenAsyncSession(Func<SessionOptions, SessionOptions> change) => OpenSession(change);

    /// <summary>Same as <see cref="OpenSession(SessionOptions)"/>, returned as the asynchronous interface.</summary>
    public IAsyncDocumentSession OpenAsyncSession(SessionOptions options) => OpenSession(options);

    /// <summary>
    /// Completes when a change after <paramref name="afterEtag"/> is durable; immediately if there already is one.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The database was closed during the wait.</exception>
    public Task WaitForChangeAsync(long afterEtag, CancellationToken cancellationToken = default) =>
        _changes.WaitAsync(afterEtag, cancellationToken);

    /// <inheritdoc/>
    public IAsyncEnumerable<DocumentChange> ChangesAsync(
        ChangesOptions? options = null, CancellationToken cancellationToken = default) => ChangeStream.ReadAsync(
        BeginRead, _changes, options?.AfterEtag ?? LastEtag, options ?? new ChangesOptions(), cancellationToken);

    /// <inheritdoc/>
    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    public Task RunAsync(Func<IAsyncDocumentSession, Task> work, CancellationToken cancellationToken = default) =>
        RunAsync(work, DefaultSession, cancellationToken);

    /// <inheritdoc/>
    public Task RunAsync(
        Func<IAsyncDocumentSession, Task> work, SessionOptions options, CancellationToken cancellationToken = default) =>
        TransactionRun.RunAsync(this, work, options, cancellationToken);

    /// <summary>Returns the next range of ids for a tag, for HiLo clients.</summary>
    /// <exception cref="InvalidDocumentException">The tag is not valid in an id.</exception>
    public Task<HiLoRange> NextHiLoRangeAsync(HiLoRequest request, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        return WriteAsync((writer, now) => HiLoWriter.Next(writer, request, Options.MaxIdBytes, now), cancellationToken);
    }

    /// <summary>Returns the unused end of a HiLo range, if no later one has been assigned.</summary>
    public Task ReturnHiLoRangeAsync(string tag, long end, long last, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(tag);
        return WriteAsync((writer, _) => HiLoWriter.Return(writer, tag, end, last, Options.MaxIdBytes), cancellationToken);
    }

    /// <summary>Returns the next value of an identity such as <c>users|</c> (a missing <c>|</c> is added).</summary>
    /// <exception cref="InvalidDocumentException">The name is not valid in an id.</exception>
    public Task<long> NextIdentityAsync(string name, CancellationToken cancellationToken = default)
    {
        string identity = IdMaker.IdentityName(name, Options.MaxIdBytes);
        return WriteAsync((writer, _) => writer.Ids.NextIdentity(identity), cancellationToken);
    }

    /// <summary>
    /// Sets the last value of an identity and returns its resulting value. Decreases the value only with
    /// <paramref name="force"/>.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The name is not valid in an id.</exception>
    public Task<long> SeedIdentityAsync(
        string name, long value, bool force = false, CancellationToken cancellationToken = default)
    {
        string identity = IdMaker.IdentityName(name, Options.MaxIdBytes);
        return WriteAsync((writer, _) => writer.Ids.SeedIdentity(identity, value, force), cancellationToken);
    }

    /// <summary>
    /// Changes the key of an encrypted database: from the next opening on, only the new key works. Rewrites one block, whatever
    /// the size of the database; durable when the method returns. If it is interrupted, either the old or the new key works.
    /// Someone with the old key and an old copy of that block still has the data key: if a key was compromised, see
    /// <see cref="RotateEncryptionDataKey"/>.
    /// </summary>
    /// <exception cref="InvalidOperationException">The database is not encrypted.</exception>
    public void ChangeEncryptionKey(EncryptionKey next)
    {
        ArgumentNullException.ThrowIfNull(next);
        RequireEncryption();
        Environment.ChangeKey(next);
    }

    /// <summary>
    /// Re-encrypts all documents and indexes with new data keys while reads and writes continue. Takes as long as writing all of
    /// the data. If it is cancelled or interrupted, the database is intact and opens as before; run it again.
    /// </summary>
    /// <param name="key">The current key of the database, which wraps the new data key.</param>
    /// <param name="progress">Receives the progress after each step, on the calling thread.</param>
    /// <param name="cancellationToken">Cancels the operation between two steps.</param>
    /// <exception cref="EncryptionKeyException">The key is not the current one.</exception>
    /// <exception cref="InvalidOperationException">The database is not encrypted.</exception>
    /// <exception cref="OperationCanceledException">The operation was cancelled.</exception>
    public EncryptionReport RotateEncryptionDataKey(
        EncryptionKey key, IProgress<EncryptionProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        RequireEncryption();
        var steps = new KeyRotationSteps(progress);
        steps.Run(DatabaseFormat.DocumentsFolder, told => Environment.RotateDataKey(key, told, cancellationToken));
        Indexes.RotateDataKeys(steps, cancellationToken);
        return steps.Report;
    }

    /// <summary>The memory in bytes of decrypted pages; reads no pages.</summary>
    internal long DecryptedBytes => Environment.GetStatistics().DecryptedBytes + Indexes.DecryptedBytes();

    /// <summary>
    /// Why writing is not possible, until the database is opened again or its disk works again; null if writing is possible.
    /// </summary>
    public string? WritingFault => Environment.GetStatistics().WritingFault;

    /// <summary>Returns counts, sizes, etags and the statistics of the indexes.</summary>
    public DatabaseStatistics GetStatistics() => DatabaseStatistics.Of(this);

    /// <summary>
    /// Checks all pages of the documents and reports every fault; see <see cref="StorageEnvironment.Check(CancellationToken)"/>.
    /// </summary>
    public CheckReport Check(CancellationToken cancellationToken = default) => Environment.Check(cancellationToken);

    /// <inheritdoc/>
    public void Dispose()
    {
        if (!BeginClosing())
            return;
        Environment.Dispose();
        _place?.Dispose();
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        if (!BeginClosing())
            return;
        await Environment.DisposeAsync().ConfigureAwait(false);
        _place?.Dispose();
    }

    private bool BeginClosing()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
            return false;
        if (_shared is not null)
            _shared.AnalyzersChanged -= RefreshAnalyzers;
        Lifecycle.Dispose(); // before closing the rest, because it writes
        TimeSeriesPolicies.Dispose();
        Tombstones.Dispose();
        Compression.Dispose();
        _changes.Close();
        ((IDisposable)Indexes).Dispose(); // before the documents that indexes read
        return true;
    }

    Task IWriteHost.WriteWithoutResultsAsync(WriteBatch batch, CancellationToken cancellationToken) =>
        WriteAsync(batch, wantsResults: false, cancellationToken);

    Task<T> IWriteHost.WriteAsync<T>(Func<DocumentWriter, T> command, CancellationToken cancellationToken) =>
        WriteAsync((writer, _) => command(writer), cancellationToken, wantsResults: false);

    /// <summary>Returns the next range of ids, for synchronous callers.</summary>
    internal HiLoRange NextHiLoRange(HiLoRequest request)
    {
        ObjectDisposedException.ThrowIf(_disposed != 0, this);
        return _writes.Run((writer, now) => HiLoWriter.Next(writer, request, Options.MaxIdBytes, now));
    }

    /// <summary>Throws if the database is not encrypted.</summary>
    internal void RequireEncryption()
    {
        ObjectDisposedException.ThrowIf(_disposed != 0, this);
        KeyRotationSteps.RequireEncryption(Name, IsEncrypted);
    }

    /// <summary>Rebuilds the indexes whose shared analyzers have changed; adds an error to the list.</summary>
    private void RefreshAnalyzers(ICollection<Exception> failed)
    {
        try
        {
            if (_shared is { Analyzers.Count: > 0 })
                Indexes.Analyzers.Refresh();
        }
        catch (ObjectDisposedException)
        {
            // The database is being closed. Its next opening applies shared analyzers.
        }
        catch (Exception error) when (error is StorageException or IOException or UnauthorizedAccessException)
        {
            failed.Add(new StorageException($"Database '{Name}': {error.Message}", error));
        }
    }

    /// <summary>Stores a setting, or deletes it if null; durable when the method returns.</summary>
    private void WriteSetting(string name, byte[]? json)
    {
        using var batch = new WriteBatch(Options);
        batch.Setting(name, json);
        batch.BeginWrite(Options);
        _writes.Run((writer, _) => writer.Apply(batch));
    }

    /// <summary>Runs a command in a transaction; durable when the method returns.</summary>
    internal TResult Write<TResult>(Func<DocumentWriter, TResult> command) => _writes.Run((writer, _) => command(writer));

    private async Task<WriteResult[]> WriteAsync(WriteBatch batch, bool wantsResults, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(batch);
        batch.BeginWrite(Options);
        Compression.Pack(batch);
        WriteResult[] results = batch.Count == 0
            ? []
            : await TrialEndedException.ResultsAsync(
                WriteAsync((writer, _) => writer.Apply(batch), cancellationToken, wantsResults)).ConfigureAwait(false);
        batch.Dispose(); // not after a failed or canceled write: the storage may still read from the batch
        return results;
    }

    /// <summary>Runs a command in a durable transaction of its own.</summary>
    internal Task<TResult> WriteAsync<TResult>(
        Func<DocumentWriter, DateTime, TResult> command, CancellationToken cancellationToken, bool wantsResults = true)
    {
        ObjectDisposedException.ThrowIf(_disposed != 0, this);
        return _writes.RunAsync(command, cancellationToken, wantsResults);
    }
}
