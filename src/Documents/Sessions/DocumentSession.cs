using System.Linq.Expressions;
using System.Text.Json.Nodes;
using Treepie.Kinds;
using Treepie.Linq;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>
/// A unit of work: loads each document once, tracks changes, and saves all of them in one durable batch. Not thread-safe.
/// <code>
/// using DocumentSession session = database.OpenSession();
/// session.Store(new User { Name = "Ada" });
/// User? bob = session.Load&lt;User&gt;("users/2-A");
/// bob?.Rename("Bob");
/// await session.SaveChangesAsync();
/// </code>
/// If an entity has an <c>Id</c> property, it holds the document's id, which is not stored again in the document's JSON. A string
/// property holds the whole id; an <c>int</c>, <c>long</c> or <c>Guid</c> property holds the part after the collection's tag, as
/// in <c>orders/42</c>.
/// </summary>
public sealed partial class DocumentSession : IDocumentSession, IAsyncDocumentSession
{
    private readonly ISessionHost _database;
    private readonly SessionOptions _options;
    private readonly SessionGuard _guard = new();
    private readonly SessionObjects _objects;
    // Ids of documents to delete that are not loaded, with their expected change vectors.
    private Dictionary<string, string?>? _deletions;
    private List<SessionCommand>? _commands;
    private readonly SessionReads? _reads; // what saves verify besides the entities
    private SessionIncludes? _included;
    private SessionQueries? _queries;
    private EntityTypes? _types;
    private LazyOperations? _lazy;
    private SessionAdvanced? _advanced;
    private bool _disposed;

    internal DocumentSession(ISessionHost database, SessionOptions options)
    {
        _database = database;
        _options = options;
        _objects = new SessionObjects(options.MaxTrackedDocuments);
        _reads = options.ChecksLoads
            ? new SessionReads(database, options.MaxTrackedDocuments, options.IsTransaction)
            : null;
        Requests = new SessionRequests(database, _reads);
    }

    /// <summary>Less common operations: pending changes, metadata, streaming, attachments, counters.</summary>
    public SessionAdvanced Advanced => _advanced ??= new SessionAdvanced(this);

    /// <summary>Whether the session has changes to save.</summary>
    public bool HasChanges =>
        _deletions?.Count > 0
            || _commands?.Count > 0
            || _objects.All.Any(entity => entity.IsDeleted || Saver.Changed(entity) is not null);

    /// <summary>Same as <see cref="Store"/>; completes synchronously.</summary>
    public ValueTask StoreAsync(
        object entity, string? id = null, string? changeVector = null, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Store(entity, id, changeVector);
        return default;
    }

    /// <summary>Same as <see cref="SessionAdvanced.CountersFor(string)"/>.</summary>
    public SessionCounters CountersFor(string documentId) => Advanced.CountersFor(documentId);

    /// <summary>Same as <see cref="SessionAdvanced.CountersFor(object)"/>.</summary>
    public SessionCounters CountersFor(object entity) => Advanced.CountersFor(entity);

    /// <summary>Same as <see cref="SessionAdvanced.TimeSeriesFor(string, string)"/>.</summary>
    public SessionTimeSeries TimeSeriesFor(string documentId, string name) => Advanced.TimeSeriesFor(documentId, name);

    /// <summary>Same as <see cref="SessionAdvanced.TimeSeriesFor(object, string)"/>.</summary>
    public SessionTimeSeries TimeSeriesFor(object entity, string name) => Advanced.TimeSeriesFor(entity, name);

    /// <summary>Same as <see cref="SessionAdvanced.TimeSeriesFor{T}(string, string?)"/>.</summary>
    public TypedTimeSeries<T> TimeSeriesFor<T>(string documentId, string? name = null)
        where T : class, new() => Advanced.TimeSeriesFor<T>(documentId, name);

    /// <summary>Same as <see cref="SessionAdvanced.TimeSeriesFor{T}(object, string?)"/>.</summary>
    public TypedTimeSeries<T> TimeSeriesFor<T>(object entity, string? name = null)
        where T : class, new() => Advanced.TimeSeriesFor<T>(entity, name);

    /// <summary>
    /// Adds an entity to the session; the next save stores it. If no id is given and the <c>Id</c> property is empty, the entity
    /// is assigned an id immediately, such as <c>users/33-A</c>. The save completes an id that ends in <c>/</c> or <c>|</c>.
    /// </summary>
    /// <param name="entity">The entity.</param>
    /// <param name="id">The id. Null: the value of the <c>Id</c> property, or the next generated id.</param>
    /// <param name="changeVector">The change vector that the stored document must have at the save. Empty: the document must
    /// not exist. Null: as the session's options specify.</param>
    /// <exception cref="InvalidOperationException">Another entity of this session has the id, or this entity has another
    /// id.</exception>
    /// <exception cref="InvalidDocumentException">The id is not valid.</exception>
    /// <exception cref="TreepieException">Entities of the type would lose data when stored; the message names the
    /// member.</exception>
    public void Store(object entity, string? id = null, string? changeVector = null)
    {
        ArgumentNullException.ThrowIfNull(entity);
        ObjectDisposedException.ThrowIf(_disposed, this);
        using SessionGuard.Scope scope = _guard.Enter();
        if (_objects.TryGet(entity, out TrackedEntity? tracked))
        {
            if (id is not null && !IdComparer.Instance.Equals(id, tracked.Id))
                throw new InvalidOperationException(
                    $"This object is stored in this session as '{tracked.Id}' and cannot be stored as '{id}' too. Store a copy.");
            _objects.RequireFree(tracked);
            tracked.IsDeleted = false;
            tracked.ExpectedChangeVector = changeVector ?? tracked.ExpectedChangeVector;
            return;
        }

        EntityType type = TypeOf(entity.GetType());
        id = string.IsNullOrEmpty(id) ? type.Id?.Get(entity) : id;
        if (string.IsNullOrEmpty(id))
            id = type.Id?.Next(_database.HiLoIds, type.Tag) ?? _database.HiLoIds.Next(type.Tag);
        DocumentId.Encode(id, _database.Options.MaxIdBytes);
        tracked = new TrackedEntity(entity, type, id) { ExpectedChangeVector = changeVector };
        _objects.RequireFree(tracked);
        if (!tracked.HasOpenId)
            type.Id?.Set(entity, id);
        _objects.Add(tracked);
    }

    /// <summary>Marks an entity's document for deletion by the next save.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public void Delete(object entity)
    {
        using SessionGuard.Scope scope = _guard.Enter();
        TrackedEntity tracked = Tracked(entity);
        if (tracked.IsNew)
            Evict(entity);
        else
            tracked.IsDeleted = true;
    }

    /// <summary>
    /// Marks a document for deletion by the next save. It need not exist, unless a change vector is given, which it must then
    /// have.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The id is not valid.</exception>
    public void Delete(string id, string? changeVector = null)
    {
        ArgumentNullException.ThrowIfNull(id);
        ObjectDisposedException.ThrowIf(_disposed, this);
        DocumentId.Encode(id, _database.Options.MaxIdBytes);
        using SessionGuard.Scope scope = _guard.Enter();
        if (!_objects.TryGet(id, out TrackedEntity? tracked))
        {
            (_deletions ??= new(IdComparer.Instance))[id] = changeVector;
            return;
        }

        tracked.ExpectedChangeVector = changeVector ?? tracked.ExpectedChangeVector;
        Delete(tracked.Entity);
    }

    /// <summary>
    /// Saves all changes in one atomic batch. Deletions are applied first, so that an id can be reused for another entity.
    /// Completes when the batch is durable; the entities then have their ids and new change vectors. If it fails, the session is
    /// unchanged.
    /// </summary>
    /// <exception cref="ConcurrencyException">A document was changed by someone else in the meantime.</exception>
    /// <exception cref="InvalidDocumentException">An entity is not a valid document, or exceeds a limit.</exception>
    public async Task SaveChangesAsync(CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        using (_guard.EnterSave())
        {
            if (await Saver.SaveAsync(_objects.All, _reads, _deletions, _commands, cancellationToken)
                .ConfigureAwait(false) is not { } outcome)
                return;
            HasSaved = true;
            Requests.Add();
            _included?.Saved(outcome, DeletedIds);
            _deletions?.Clear();
            _commands?.Clear();
            _reads?.Dispose();
            outcome.Deleted.ToList().ForEach(_objects.Remove);
            foreach (TrackedEntity put in outcome.Put)
                _objects.Name(put);
            SavedCommands.Apply(this, outcome.Commands);
            if (_disposed)
                Forget(); // it was disposed during the save
        }

        if (_advanced?.IndexWait is { } wait)
            await wait.WaitAsync(_database, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Same as <see cref="SaveChangesAsync"/>; blocks the thread until the changes are durable.</summary>
    /// <exception cref="ConcurrencyException">A document was changed by someone else in the meantime.</exception>
    /// <exception cref="InvalidDocumentException">An entity is not a valid document, or exceeds a limit.</exception>
    public void SaveChanges() => SaveChangesAsync().GetAwaiter().GetResult();

    /// <summary>Starts a LINQ query over the documents of a type's collection or over an index.</summary>
    /// <param name="indexName">The index to query; the members of the type are then the fields of the index. Null: queries the
    /// collection, using auto-indexes.</param>
    public IDocumentQueryable<T> Query<T>(string? indexName = null)
        where T : class
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        return new DocumentQueryable<T>(new QueryModel(Queries, typeof(T), indexName, Queries.ReadResult<T>));
    }

    /// <summary>Starts an RQL query; set parameter values with <see cref="RawDocumentQuery{T}.AddParameter"/>.</summary>
    public RawDocumentQuery<T> RawQuery<T>(string rql)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(rql);
        return new RawDocumentQuery<T>(Queries, rql, []);
    }

    /// <summary>Starts an RQL query from an interpolated string whose interpolated values become parameters.</summary>
    public RawDocumentQuery<T> RawQuery<T>(RqlInterpolatedStringHandler rql)
        where T : class => new(Queries, rql.Rql.Text, [.. rql.Rql.Values.Select(value => ((string?)null, value))]);

    /// <summary>
    /// Includes the documents that a member refers to in the next load:
    /// <c>session.Include&lt;Order&gt;(o => o.CompanyId).Load&lt;Order&gt;("orders/1")</c>.
    /// </summary>
    public IncludeLoader<T> Include<T>(Expression<Func<T, object?>> member)
        where T : class => new IncludeLoader<T>(this, [], []).Include(member);

    /// <summary>
    /// Runs an RQL query. Results that are whole documents are tracked by the session; projections are new, untracked objects.
    /// </summary>
    /// <param name="rql">The text of the query.</param>
    /// <param name="parameters">The values of the query's parameters, by name without the <c>$</c>: an object such as <c>new
    /// { least = 10 }</c>, or a dictionary from string to object, which itself needs no serializer metadata.</param>
    /// <param name="waitForIndex">Waits until the index has processed everything saved before the query, instead of
    /// indexing the remaining documents in memory.</param>
    /// <param name="cancellationToken">Cancels the wait or the query.</param>
    /// <exception cref="InvalidQueryException">The query is not valid.</exception>
    public Task<IReadOnlyList<T>> QueryAsync<T>(
        string rql, object? parameters = null, bool waitForIndex = false, CancellationToken cancellationToken = default)
        where T : class => QueryAsync<T>(
        new QueryRequest
        {
            Text = rql,
            Parameters = parameters is null ? default : QueryParameterJson.From(parameters, _options.Json),
            WaitForNonStaleResults = waitForIndex,
        },
        cancellationToken);

    /// <summary>
    /// Same as <see cref="QueryAsync{T}(string, object, bool, CancellationToken)"/>, with an interpolated string whose holes are
    /// parameters and never part of the text.
    /// </summary>
    /// <exception cref="ArgumentException">A hole is inside quotes, or a parameter has the name of one.</exception>
    public Task<IReadOnlyList<T>> QueryAsync<T>(
        RqlInterpolatedStringHandler rql, object? parameters = null, bool waitForIndex = false,
        CancellationToken cancellationToken = default)
        where T : class => QueryAsync<T>(
        rql.Rql.Text, QueryParameterJson.With(rql.Rql, parameters, _options.Json), waitForIndex, cancellationToken);

    /// <summary>Same as <see cref="QueryAsync{T}(string, object, bool, CancellationToken)"/>, with all options.</summary>
    public Task<IReadOnlyList<T>> QueryAsync<T>(QueryRequest request, CancellationToken cancellationToken = default)
        where T : class
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        return Queries.ListAsync<T>(request, cancellationToken);
    }

    /// <summary>Returns the id of an entity. An id that the save will complete is returned as it was given.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public string GetDocumentId(object entity) => Tracked(entity).Id;

    /// <summary>Returns the change vector of an entity's document as of its last load or save; null if it is new.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public string? GetChangeVectorFor(object entity) => Tracked(entity).ChangeVector;

    /// <summary>Returns when an entity's document was last modified, in UTC; null if it is new.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public DateTime? GetLastModifiedFor(object entity) => Tracked(entity).Document?.LastModified;

    /// <summary>
    /// Returns the metadata of an entity's document. Changes to it are saved. It does not contain <c>@id</c>,
    /// <c>@change-vector</c> and <c>@last-modified</c>, which the database sets.
    /// </summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public JsonObject GetMetadataFor(object entity) => Tracked(entity).ReadMetadata(_database.Options.MaxDocumentDepth);

    /// <summary>Returns whether the session tracks an entity with the specified id.</summary>
    public bool IsLoaded(string id) => _objects.TryGet(id, out TrackedEntity? tracked) && !tracked.IsDeleted;

    /// <summary>Stops tracking an entity: it is not saved, and the next load reads its document again.</summary>
    public void Evict(object entity)
    {
        using SessionGuard.Scope scope = _guard.Enter();
        if (!_objects.TryGet(entity, out TrackedEntity? tracked))
            return;
        NoteForgotten(tracked);
        _objects.Remove(tracked);
        _included?.Forget(tracked.Id);
    }

    /// <summary>Stops tracking all entities and discards all pending changes.</summary>
    public void Clear()
    {
        using SessionGuard.Scope scope = _guard.Enter();
        foreach (TrackedEntity tracked in _objects.All)
            NoteForgotten(tracked);
        Forget();
    }

    /// <summary>Ends the session and discards unsaved changes. A save that is in progress runs to completion.</summary>
    public void Dispose()
    {
        _disposed = true;
        if (_guard.IsSaving)
            return;
        Forget();
        _reads?.Dispose();
    }

    /// <summary>Same as <see cref="Dispose"/>.</summary>
    public ValueTask DisposeAsync()
    {
        Dispose();
        return default;
    }

    private void Forget()
    {
        _objects.Clear();
        _deletions?.Clear();
        _included?.Clear();
        _commands?.ForEach(static command => command.DisposeAsync().AsTask().GetAwaiter().GetResult());
        _commands?.Clear();
    }

    internal SessionQueries Queries => _queries ??= new SessionQueries(this, _options);

    internal ISessionHost Database => _database;

    /// <summary>The requests made to the database.</summary>
    internal SessionRequests Requests { get; }

    /// <summary>The pending lazy loads and queries.</summary>
    internal LazyOperations LazyOperations => _lazy ??= new LazyOperations(this, _options.MaxTrackedDocuments);

    /// <summary>The included related data; null if there is none.</summary>
    internal IncludedBeside? Beside => _included?.Beside;

    private SessionIncludes Included => _included ??= new SessionIncludes(_options.MaxTrackedDocuments);

    /// <summary>Whether a save has written something.</summary>
    internal bool HasSaved { get; private set; }

    /// <summary>What saves verify besides the entities; null if they verify nothing.</summary>
    internal SessionReads? Reads => _reads;

    /// <summary>Begins a read, which counts as a request, of documents that the session tracks or notes.</summary>
    internal DatabaseSnapshot BeginDocumentRead() => Requests.BeginRead();

    /// <summary>Begins a read of anything, which counts as a request.</summary>
    internal DatabaseSnapshot BeginRead()
    {
        _reads?.NoteEverything();
        return Requests.BeginRead();
    }

    private void NoteForgotten(TrackedEntity tracked)
    {
        if (_reads is { IsTransaction: true } && tracked.ChangeVector is { } changeVector)
            _reads.Note(tracked.Id, changeVector);
    }

    internal SessionSaver Saver => field ??= new SessionSaver(_database, _options);

    internal IReadOnlyCollection<TrackedEntity> Entities => _objects.All;

    internal IReadOnlyList<SessionCommand> Commands => _commands ?? [];

    internal IReadOnlyCollection<string> DeletedIds => _deletions is null ? [] : _deletions.Keys;

    /// <summary>Adds a command that the next save executes in addition to storing documents.</summary>
    internal void Defer(SessionCommand command)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        using (_guard.Enter())
            (_commands ??= []).Add(command);
    }

    /// <summary>Keeps the documents and related data that results include, so that reading them needs no request.</summary>
    internal void KeepIncludes(QueryResults results)
    {
        results.VisitIncludes(Keep);
        if (results.IncludedBeside is { } beside)
            Keep(beside, results.Snapshot);
    }

    internal void Keep(BesideIncluded included, DatabaseSnapshot snapshot)
    {
        using SessionGuard.Scope scope = _guard.Enter();
        Included.Keep(included, snapshot);
    }

    /// <summary>Keeps a document until it is loaded.</summary>
    internal void Keep(Document document)
    {
        using SessionGuard.Scope scope = _guard.Enter();
        if (Included.HasRoom && document.IdText() is var id && !_objects.TryGet(id, out _))
            Included.Keep(id, DocumentCopy.Of(document, Guarded(document, id)));
    }

    internal bool IsClusterWide => _options.IsClusterWide;

    /// <summary>Returns the id of an entity, which must not be completed by the save.</summary>
    internal string IdOf(object entity) => Tracked(entity) is { HasOpenId: false } tracked
        ? tracked.Id
        : throw new InvalidOperationException(
            "The object gets its id by the next save. Save it first, then attach to it what belongs to it.");

    internal void RequireOpen() => ObjectDisposedException.ThrowIf(_disposed, this);

    internal bool TryFindTracked<T>(string id, out T? entity)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(id);
        ObjectDisposedException.ThrowIf(_disposed, this);
        using SessionGuard.Scope scope = _guard.Enter();
        entity = null;
        if (!_objects.TryGet(id, out TrackedEntity? tracked))
        {
            if (_deletions?.ContainsKey(id) == true)
                return true;
            if (_included?.Take(id) is not { } included)
                return false;
            entity = Track<T>(included.Id, included.Document);
            return true;
        }

        if (!tracked.IsDeleted)
            entity = tracked.As<T>();
        return true;
    }

    internal T? Track<T>(DatabaseSnapshot snapshot, string id)
        where T : class
    {
        if (!snapshot.TryGet(id, out Document document))
            return Missing<T>(id);
        return document.IdText(id) is var own && ReferenceEquals(own, id) // already looked up
            ? Track<T>(own, DocumentCopy.Of(document, Guarded(document, own)))
            : Track<T>(document);
    }

    /// <summary>Returns the entity for a document that is not stored: a new one of this session, if there is one.</summary>
    internal T? Missing<T>(string id)
        where T : class
    {
        if (TryFindTracked(id, out T? entity))
            return entity;
        _reads?.Note(id, "");
        return null;
    }

    internal T? Track<T>(Document document)
        where T : class
    {
        string id = document.IdText();
        return TryFindTracked(id, out T? known) ? known : Track<T>(id, DocumentCopy.Of(document, Guarded(document, id)));
    }

    internal string? Guarded(Document document, string id) =>
        _options.IsClusterWide ? document.Snapshot.GuardedChangeVector(id, document.ChangeVector) : null;

    /// <summary>Returns the entity with the specified document id, unless it is deleted.</summary>
    internal TrackedEntity? FindTracked(string id) =>
        _objects.TryGet(id, out TrackedEntity? tracked) && !tracked.IsDeleted ? tracked : null;

    /// <summary>Updates an entity to the current state of its document; returns false if it cannot be updated.</summary>
    internal bool TryRefresh(TrackedEntity tracked, Document document) => tracked.TryRefresh(
        DocumentCopy.Of(document, Guarded(document, tracked.Id)), Saver.Json.Read(tracked.Type, tracked.Id, document.Body));

    internal SessionObjects Objects => _objects;

    /// <summary>Enters a call that changes the state of the session; the scope must be disposed.</summary>
    internal SessionGuard.Scope Enter() => _guard.Enter();

    private T Track<T>(string id, DocumentCopy document)
        where T : class
    {
        using SessionGuard.Scope scope = _guard.Enter();
        EntityType type = TypeOf(typeof(T));
        object read = Saver.Json.Read(type, id, document.Body);
        T entity = read as T ?? throw new TreepieException(
            $"Document '{id}' is of type {read.GetType().Name} and cannot be loaded as {typeof(T).Name}. Load it as "
                + $"{type.Json.Type.Name}.");
        _objects.Add(TrackedEntity.Of(read, type, id, document));
        return entity;
    }

    internal TrackedEntity Tracked(object entity)
    {
        ArgumentNullException.ThrowIfNull(entity);
        ObjectDisposedException.ThrowIf(_disposed, this);
        return _objects.TryGet(entity, out TrackedEntity? tracked)
            ? tracked
            : throw new InvalidOperationException(
                $"This object of type {entity.GetType().Name} is not of this session. Load or store it here first.");
    }

    internal EntityType TypeOf(Type type) => (_types ??= _database.EntityTypesOf(_options)).Of(type);
}
