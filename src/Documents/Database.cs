using System.Diagnostics.CodeAnalysis;
using System.Linq.Expressions;
using System.Text.Json;
using System.Runtime.CompilerServices;
using Treepie.Archiving;
using Treepie.Encryption;
using Treepie.IndexClasses;
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
/// The front door: one document database in one directory, inside this process. Thread-safe. Nothing is acknowledged before it is
/// durable; readers see an unchanging snapshot and never wait.
/// </summary>
public sealed class Database : IDocumentStore, ISessionHost
{
    private readonly ChangeVectors _changeVectors;
    private readonly CollectionNames _collectionNames = new();
    private readonly BodyDictionaries _dictionaries;
    private readonly ChangeSignal _changes = new();
    private readonly QueryExecutor _queries;
    private readonly DatabaseWrites _writes;
    private readonly ConditionalWeakTable<SessionOptions, EntityTypes> _entityTypes = [];
    private SessionOptions? _reflectionOptions;
    private TemporaryPlace? _place;
    private int _disposed;

    /// <summary>Opens it in an environment, which goes with it.</summary>
    internal Database(string directory, StorageEnvironment environment, DatabaseOptions options)
    {
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
            environment, _changeVectors, _dictionaries, _changes, BeginRead, () => Imports.KeepsUnused, Name,
            options.TimeProvider);
        using (DatabaseSnapshot snapshot = BeginRead())
            _changes.Publish(snapshot.LastEtag);
        SealedDefinitions? sealedDefinitions = environment.IsEncrypted
            ? new SealedDefinitions(environment, options.DecryptedBudgetBytes)
            : null;
        Indexes = IndexCatalogue.Open(
            IndexesDirectory,
            new IndexingContext(
                BeginRead, _changes, options.TimeProvider, options.Analyzers, options.Indexing, options.Computing,
                (batch, stop) => WriteAsync(batch, wantsResults: false, stop))
            {
                WriteSetting = WriteSetting
            },
            new StaticDefinitions(environment, options.TimeProvider), sealedDefinitions, new IndexSettingsStore(environment));
        _queries = new QueryExecutor(Indexes, BeginRead, _changes, Options, Name);
        HiLoIds = new HiLoIds(NextHiLoRange);
        Revisions = new DocumentRevisions(this);
        Lifecycle = new DocumentLifecycle(this);
        TimeSeriesPolicies = new TimeSeriesPolicies(this);
        Compression = new DocumentCompression(this, _dictionaries);
        Settings = new DatabaseSettings(this);
    }

    /// <summary>The name; the directory's unless the options give one.</summary>
    public string Name { get; }

    /// <summary>Drawn when the database was created; part of its change vectors.</summary>
    public Guid Id { get; }

    /// <summary>The directory all of its files are in, as a full path.</summary>
    public string DataDirectory { get; }

    /// <summary>The limits and settings it was opened with, but for its key, which is not kept.</summary>
    public DatabaseOptions Options { get; }

    /// <summary>Whether all its files are encrypted.</summary>
    public bool IsEncrypted => Environment.IsEncrypted;

    /// <summary>Indexes of this database and their state.</summary>
    public IndexCatalogue Indexes { get; }

    /// <summary>What is done with documents at times that their metadata gives.</summary>
    public DocumentLifecycle Lifecycle { get; }

    /// <summary>How time series are rolled up, and how long their entries are kept.</summary>
    public TimeSeriesPolicies TimeSeriesPolicies { get; }

    /// <summary>Which documents are kept compressed.</summary>
    public DocumentCompression Compression { get; }

    /// <summary>What programs keep with the database about it.</summary>
    public DatabaseSettings Settings { get; }

    /// <summary>States that documents had.</summary>
    public DocumentRevisions Revisions { get; }

    /// <summary>Etag of the last durable change, without a snapshot.</summary>
    public long LastEtag => _changes.LastEtag;

    /// <summary>Whether it does something by itself, now or when the time has come.</summary>
    internal bool HasWork =>
        Lifecycle.IsScheduled
        || TimeSeriesPolicies.IsScheduled
        || Compression.HasWork
        || Indexes.List().Any(static index => index is { IsStale: true, State: IndexState.Normal, IsPaused: false });

    /// <summary>Its log.</summary>
    internal DatabaseLog Log { get; }

    EntityTypes ISessionHost.EntityTypesOf(SessionOptions options) =>
        _entityTypes.GetValue(options, static own => new EntityTypes(own));

    /// <summary>Ids for objects of sessions that have none.</summary>
    internal HiLoIds HiLoIds { get; }

    HiLoIds ISessionHost.HiLoIds => HiLoIds;

    internal StorageEnvironment Environment { get; }

    StorageEnvironment IWriteHost.Environment => Environment;

    /// <summary>Held by the one compaction there may be at a time.</summary>
    internal OneAtATime Compacting { get; } = new();

    /// <summary>Imports under way.</summary>
    internal ImportGate Imports { get; }

    /// <summary>Where indexes keep their environments, one folder each; made by the first.</summary>
    internal string IndexesDirectory => Path.Combine(DataDirectory, DatabaseFormat.IndexesFolder);

    /// <summary>Opens or creates the database in a directory.</summary>
    /// <exception cref="ForeignDataException">The directory holds something else.</exception>
    /// <exception cref="EnvironmentLockedException">Another process has it open.</exception>
    /// <exception cref="EncryptionKeyException">It is encrypted and the key is missing or wrong, or it is not and a key was
    /// given; nothing was changed.</exception>
    /// <exception cref="StorageException">Its files cannot be read or written; the message says which and why.</exception>
    public static Database Open(string path, DatabaseOptions? options = null)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        options ??= new DatabaseOptions();
        options.Validate();
        string directory = Path.TrimEndingDirectorySeparator(Path.GetFullPath(path));
        StorageEnvironment environment = DatabaseFormat.OpenDocuments(
            directory, options.EncryptionKey, options.DecryptedBudgetBytes);
        try
        {
            return new Database(directory, environment, options);
        }
        catch
        {
            environment.Dispose();
            throw;
        }
    }

    /// <summary>
    /// A new database that is gone when it is disposed, for tests: in shared memory where the system has it (Linux), else among
    /// the temporary files. It behaves as any other; what a process that was killed leaves behind is a folder <c>treepie-…</c>.
    /// </summary>
    public static Database OpenInMemory(DatabaseOptions? options = null)
    {
        var place = new TemporaryPlace();
        Database database = Open(place.Path, (options ?? new DatabaseOptions()) with { Name = options?.Name ?? "memory" });
        database._place = place;
        return database;
    }

    /// <summary>An unchanging view of all documents, to be disposed. One thread at a time.</summary>
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

    /// <summary>A view of what somebody else reads, who ends it.</summary>
    internal DatabaseSnapshot ReadOf(ReadTransaction transaction) =>
        new(transaction, _collectionNames, _dictionaries, _changeVectors, ownsTransaction: false);

    /// <summary>Applies all commands of the batch or none; completes when they are durable.</summary>
    /// <exception cref="ConcurrencyException">A document's change vector is not the expected one.</exception>
    /// <exception cref="InvalidDocumentException">An id, body or metadata is not valid, or over a limit.</exception>
    public async Task<IReadOnlyList<WriteResult>> WriteAsync(WriteBatch batch, CancellationToken cancellationToken = default) =>
        await WriteAsync(batch, wantsResults: true, cancellationToken).ConfigureAwait(false);

    /// <summary>Begins to store many documents in durable batches; to be disposed.</summary>
    public BulkInsert BulkInsert(BulkInsertOptions? options = null) => new(this, options ?? new BulkInsertOptions());

    /// <summary>Begins to upload the content of an attachment; to be disposed.</summary>
    public AttachmentUpload BeginUpload()
    {
        ObjectDisposedException.ThrowIf(_disposed != 0, this);
        return new AttachmentUpload(Environment, Options.MaxAttachmentBytes);
    }

    /// <summary>A look at what an index holds.</summary>
    /// <param name="indexName">Its name.</param>
    /// <param name="neverStale">Whether what it has not seen of the documents is looked at too, as if it had.</param>
    /// <exception cref="IndexNotFoundException">There is no such index.</exception>
    public IndexContent LookInto(string indexName, bool neverStale = false) =>
        new(
            Indexes.Find(indexName) ?? throw new IndexNotFoundException(indexName), Options.TimeProvider,
            neverStale ? BeginRead : null);

    /// <summary>Runs a query. See <see cref="QueryResults"/> for how results are read.</summary>
    /// <exception cref="InvalidQueryException">The text is not valid; names line and column.</exception>
    /// <exception cref="IndexNotFoundException">A named index does not exist.</exception>
    /// <exception cref="TimeoutException">It took longer than <see cref="DatabaseOptions.MaxQueryTime"/> to find the
    /// results.</exception>
    public Task<QueryResults> QueryAsync(QueryRequest request, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        return _queries.ExecuteAsync(request, cancellationToken);
    }

    /// <summary>
    /// Which index would answer a query, first, and why others would not. The query is not run, and no index is made for it.
    /// </summary>
    /// <exception cref="InvalidQueryException">The text is not valid; names line and column.</exception>
    /// <exception cref="IndexNotFoundException">A named index does not exist.</exception>
    public IReadOnlyList<IndexChoice> IndexChoices(QueryRequest request, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        return _queries.Choices(request, cancellationToken);
    }

    /// <summary>A unit of work over C# objects, read and written by reflection over their public properties.</summary>
    /// <remarks>
    /// In trimmed or natively compiled programs use <see cref="OpenSession(SessionOptions)"/> with a source-generated context.
    /// </remarks>
    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    public DocumentSession OpenSession() => OpenSession(DefaultSession);

    /// <summary>
    /// As <see cref="OpenSession()"/>, with other options: <c>OpenSession(o => o with { UseOptimisticConcurrency = true })</c>.
    /// </summary>
    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    public DocumentSession OpenSession(Func<SessionOptions, SessionOptions> change)
    {
        ArgumentNullException.ThrowIfNull(change);
        return OpenSession(change(DefaultSession));
    }

    /// <summary>The options of sessions that are opened without.</summary>
    internal SessionOptions DefaultSession
    {
        [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
        get => _reflectionOptions ??=
            new() { Json = Options.Json ?? EntityJsonOptions.ByReflection(Options.MaxDocumentDepth) };
    }

    /// <summary>A unit of work over C# objects.</summary>
    public DocumentSession OpenSession(SessionOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        ObjectDisposedException.ThrowIf(_disposed != 0, this);
        return new DocumentSession(this, options);
    }

    /// <summary>As <see cref="OpenSession()"/>, as the interface whose calls are awaited.</summary>
    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    public IAsyncDocumentSession OpenAsyncSession() => OpenSession();

    /// <summary>As <see cref="OpenSession(Func{SessionOptions, SessionOptions})"/>, as above.</summary>
    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    public IAsyncDocumentSession OpenAsyncSession(Func<SessionOptions, SessionOptions> change) => OpenSession(change);

    /// <summary>As <see cref="OpenSession(SessionOptions)"/>, as the interface whose calls are awaited.</summary>
    public IAsyncDocumentSession OpenAsyncSession(SessionOptions options) => OpenSession(options);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    void IDocumentStore.Deploy(params IEnumerable<IndexClass> indexes) => this.Deploy(indexes);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    IDocumentSession IDocumentStore.OpenSession() => OpenSession();

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    IDocumentSession IDocumentStore.OpenSession(Func<SessionOptions, SessionOptions> change) => OpenSession(change);

    IDocumentSession IDocumentStore.OpenSession(SessionOptions options) => OpenSession(options);

    /// <summary>Completes when a change later than <paramref name="afterEtag"/> is durable; at once if one is.</summary>
    /// <exception cref="ObjectDisposedException">The database was closed while waiting.</exception>
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

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> IDocumentStore.DeleteByQueryAsync<T>(Expression<Func<T, bool>> where, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(where, cancellationToken);

    Task<long> IDocumentStore.DeleteByQueryAsync(string rql, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(rql, cancellationToken);

    Task<long> IDocumentStore.DeleteByQueryAsync(string rql, JsonElement parameters, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(rql, parameters, cancellationToken);

    Task<long> IDocumentStore.DeleteByQueryAsync(
        string rql, IReadOnlyDictionary<string, object?>? parameters, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(rql, parameters, cancellationToken);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> IDocumentStore.DeleteByQueryAsync(string rql, object? parameters, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(rql, parameters, cancellationToken);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> IDocumentStore.PatchByQueryAsync<T>(
        Expression<Func<T, bool>> where, Action<DocumentPatch<T>> change, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(where, change, cancellationToken);

    Task<long> IDocumentStore.PatchByQueryAsync(string rql, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(rql, cancellationToken);

    Task<long> IDocumentStore.PatchByQueryAsync(string rql, JsonElement parameters, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(rql, parameters, cancellationToken);

    Task<long> IDocumentStore.PatchByQueryAsync(
        string rql, IReadOnlyDictionary<string, object?>? parameters, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(rql, parameters, cancellationToken);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> IDocumentStore.PatchByQueryAsync(string rql, object? parameters, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(rql, parameters, cancellationToken);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    ObjectInsert IDocumentStore.BulkInsertObjects(BulkInsertOptions? options) => this.BulkInsertObjects(options);

    /// <summary>The next range of ids for a tag, as HiLo clients ask for it.</summary>
    /// <exception cref="InvalidDocumentException">The tag cannot be part of an id.</exception>
    public Task<HiLoRange> NextHiLoRangeAsync(HiLoRequest request, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        return WriteAsync((writer, now) => HiLoWriter.Next(writer, request, Options.MaxIdBytes, now), cancellationToken);
    }

    /// <summary>Gives back the unused end of a range, if no later one was handed out.</summary>
    public Task ReturnHiLoRangeAsync(string tag, long end, long last, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(tag);
        return WriteAsync((writer, _) => HiLoWriter.Return(writer, tag, end, last, Options.MaxIdBytes), cancellationToken);
    }

    /// <summary>The next number of an identity like <c>users|</c> (the <c>|</c> is added if it is missing).</summary>
    /// <exception cref="InvalidDocumentException">The name cannot be part of an id.</exception>
    public Task<long> NextIdentityAsync(string name, CancellationToken cancellationToken = default)
    {
        string identity = IdMaker.IdentityName(name, Options.MaxIdBytes);
        return WriteAsync((writer, _) => writer.Ids.NextIdentity(identity), cancellationToken);
    }

    /// <summary>Sets the last number of an identity, backwards only if forced; gives the number it has then.</summary>
    /// <exception cref="InvalidDocumentException">The name cannot be part of an id.</exception>
    public Task<long> SeedIdentityAsync(
        string name, long value, bool force = false, CancellationToken cancellationToken = default)
    {
        string identity = IdMaker.IdentityName(name, Options.MaxIdBytes);
        return WriteAsync((writer, _) => writer.Ids.SeedIdentity(identity, value, force), cancellationToken);
    }

    /// <summary>
    /// Forgets tombstones up to an etag that everybody who follows changes has seen, a limited number in each durable step. Gives
    /// how many.
    /// </summary>
    public Task<long> PurgeTombstonesAsync(long upToEtag, CancellationToken cancellationToken = default) =>
        TombstoneWriter.PurgeAsync(Environment, upToEtag, cancellationToken);

    /// <summary>
    /// Gives an encrypted database another key: the next opening needs it, and the old one opens it no more. Rewrites one block,
    /// whatever its size; durable when this returns. Killed in the middle, either the old key opens it or the new one. Who has
    /// the old key and an old copy of that block still has the data key: where a key was betrayed, see
    /// <see cref="RotateEncryptionDataKey"/>.
    /// </summary>
    /// <exception cref="InvalidOperationException">It is not encrypted.</exception>
    public void ChangeEncryptionKey(EncryptionKey next)
    {
        ArgumentNullException.ThrowIfNull(next);
        RequireEncryption();
        Environment.ChangeKey(next);
    }

    /// <summary>
    /// Encrypts everything anew with data keys drawn now, documents and indexes, while reads and writes go on. Takes as long as
    /// writing all of it. Cancelled or killed half way, the database is whole and opens as before; run it again.
    /// </summary>
    /// <param name="key">The user's key in force, which wraps the new data key.</param>
    /// <param name="progress">Told after each step, on the calling thread.</param>
    /// <param name="cancellationToken">Ends it between two steps.</param>
    /// <exception cref="EncryptionKeyException">The key is not the one in force.</exception>
    /// <exception cref="InvalidOperationException">It is not encrypted.</exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
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

    /// <summary>Bytes of pages that are decrypted in memory now; asking for them reads none.</summary>
    internal long DecryptedBytes => Environment.GetStatistics().DecryptedBytes + Indexes.DecryptedBytes();

    /// <summary>
    /// Why nothing can be written, until the database is opened again or its disk works again; null where writing goes on.
    /// </summary>
    public string? WritingFault => Environment.GetStatistics().WritingFault;

    /// <summary>Counts, sizes, etags and index states.</summary>
    public DatabaseStatistics GetStatistics() => DatabaseStatistics.Of(this);

    /// <summary>
    /// Walks all documents' pages and gives every fault found; see <see cref="StorageEnvironment.Check(CancellationToken)"/>.
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
        Lifecycle.Dispose(); // it writes
        TimeSeriesPolicies.Dispose();
        Compression.Dispose();
        _changes.Close();
        ((IDisposable)Indexes).Dispose(); // before the documents it reads
        return true;
    }

    Task IWriteHost.WriteWithoutResultsAsync(WriteBatch batch, CancellationToken cancellationToken) =>
        WriteAsync(batch, wantsResults: false, cancellationToken);

    Task<T> IWriteHost.WriteAsync<T>(Func<DocumentWriter, T> command, CancellationToken cancellationToken) =>
        WriteAsync((writer, _) => command(writer), cancellationToken, wantsResults: false);

    /// <summary>The next range of ids, for callers that are not asynchronous.</summary>
    internal HiLoRange NextHiLoRange(HiLoRequest request)
    {
        ObjectDisposedException.ThrowIf(_disposed != 0, this);
        return _writes.Run((writer, now) => HiLoWriter.Next(writer, request, Options.MaxIdBytes, now));
    }

    /// <summary>Says that a plain database has no key.</summary>
    internal void RequireEncryption()
    {
        ObjectDisposedException.ThrowIf(_disposed != 0, this);
        KeyRotationSteps.RequireEncryption(Name, IsEncrypted);
    }

    /// <summary>Keeps something that is set, or forgets it; durable when this returns.</summary>
    private void WriteSetting(string name, byte[]? json)
    {
        using var batch = new WriteBatch(Options);
        batch.Setting(name, json);
        batch.BeginWrite(Options);
        _writes.Run((writer, _) => writer.Apply(batch));
    }

    private async Task<WriteResult[]> WriteAsync(WriteBatch batch, bool wantsResults, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(batch);
        batch.BeginWrite(Options);
        Compression.Pack(batch);
        WriteResult[] results = batch.Count == 0
            ? []
            : await TrialEndedException.ResultsAsync(
                WriteAsync((writer, _) => writer.Apply(batch), cancellationToken, wantsResults)).ConfigureAwait(false);
        batch.Dispose(); // not where the write failed or was given up: the storage may still read from it
        return results;
    }

    /// <summary>Runs a command in a durable step of its own.</summary>
    internal Task<TResult> WriteAsync<TResult>(
        Func<DocumentWriter, DateTime, TResult> command, CancellationToken cancellationToken, bool wantsResults = true)
    {
        ObjectDisposedException.ThrowIf(_disposed != 0, this);
        return _writes.RunAsync(command, cancellationToken, wantsResults);
    }
}
