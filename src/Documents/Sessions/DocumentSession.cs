using System.Globalization;
using System.Linq.Expressions;
using System.Text.Json.Nodes;
using Treepie.Kinds;
using Treepie.Linq;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>
/// A unit of work: loads objects once, notes what changed, saves all of it in one durable batch. Not thread-safe.
/// <code>
/// using DocumentSession session = database.OpenSession();
/// session.Store(new User { Name = "Ada" });
/// User? bob = session.Load&lt;User&gt;("users/2-A");
/// bob?.Rename("Bob");
/// await session.SaveChangesAsync();
/// </code>
/// A property <c>Id</c>, if there is one, is the document's id; it is not repeated in the document. A string is the whole id, an
/// <c>int</c>, <c>long</c> or <c>Guid</c> what stands behind the collection's tag: <c>orders/42</c>.
/// </summary>
public sealed class DocumentSession : IDocumentSession, IAsyncDocumentSession
{
    private readonly ISessionHost _database;
    private readonly SessionOptions _options;
    private readonly SessionGuard _guard = new();
    private readonly SessionObjects _objects;
    // of documents not loaded; value: expected change vector
    private Dictionary<string, string?>? _deletions;
    private List<SessionCommand>? _commands;
    private HashSet<string>? _missing; // that were looked for in vain
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
        Requests = new SessionRequests(database);
    }

    /// <summary>What is needed less often: changes, metadata, streams, attachments, counters.</summary>
    public SessionAdvanced Advanced => _advanced ??= new SessionAdvanced(this);

    /// <summary>Whether a save would write something.</summary>
    public bool HasChanges =>
        _deletions?.Count > 0
            || _commands?.Count > 0
            || _objects.All.Any(entity => entity.IsDeleted || Saver.Changed(entity) is not null);

    /// <summary>
    /// The object of a document; the same one however often it is loaded; null if there is none, or it was deleted in this
    /// session.
    /// </summary>
    /// <exception cref="TreepieException">The document does not fit the type.</exception>
    public T? Load<T>(string id)
        where T : class
    {
        if (TryFindTracked(id, out T? entity))
            return entity;
        using DatabaseSnapshot snapshot = BeginRead();
        return Track<T>(snapshot, id);
    }

    /// <summary>
    /// The object of a document whose id is a number behind its collection's tag, <c>orders/42</c>. As
    /// <see cref="Load{T}(string)"/>.
    /// </summary>
    /// <exception cref="TreepieException">The document does not fit the type.</exception>
    public T? Load<T>(long id)
        where T : class => Load<T>(string.Create(CultureInfo.InvariantCulture, $"{TypeOf(typeof(T)).Tag}/{id}"));

    /// <summary>
    /// The object of a document whose id is a Guid behind its collection's tag. As <see cref="Load{T}(string)"/>.
    /// </summary>
    /// <exception cref="TreepieException">The document does not fit the type.</exception>
    public T? Load<T>(Guid id)
        where T : class => Load<T>($"{TypeOf(typeof(T)).Tag}/{id:D}");

    /// <summary>
    /// The objects of several documents, by the ids as given, from one snapshot; null for those that do not exist.
    /// </summary>
    /// <exception cref="TreepieException">A document does not fit the type.</exception>
    public IReadOnlyDictionary<string, T?> Load<T>(IEnumerable<string> ids)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(ids);
        return SessionLoads.Of<T>(this, ids);
    }

    /// <summary>
    /// The object of a document, with what is asked for beside it: <c>Load&lt;Order&gt;(id, includes =>
    /// includes.IncludeCounter("likes"))</c>.
    /// </summary>
    public T? Load<T>(string id, Action<IncludeBuilder<T>> includes)
        where T : class => IncludeLoader<T>.Of(this, includes).Load<T>(id);

    /// <summary>The objects of several documents, with what is asked for beside them.</summary>
    public IReadOnlyDictionary<string, T?> Load<T>(IEnumerable<string> ids, Action<IncludeBuilder<T>> includes)
        where T : class => IncludeLoader<T>.Of(this, includes).Load<T>(ids);

    /// <summary>As <see cref="Load{T}(string, Action{IncludeBuilder{T}})"/>: reads complete at once.</summary>
    public ValueTask<T?> LoadAsync<T>(
        string id, Action<IncludeBuilder<T>> includes, CancellationToken cancellationToken = default)
        where T : class => IncludeLoader<T>.Of(this, includes).LoadAsync<T>(id, cancellationToken);

    /// <summary>As <see cref="Load{T}(IEnumerable{string}, Action{IncludeBuilder{T}})"/>: reads complete at once.</summary>
    public ValueTask<IReadOnlyDictionary<string, T?>> LoadAsync<T>(
        IEnumerable<string> ids, Action<IncludeBuilder<T>> includes, CancellationToken cancellationToken = default)
        where T : class => IncludeLoader<T>.Of(this, includes).LoadAsync<T>(ids, cancellationToken);

    /// <summary>As <see cref="Load{T}(string)"/>: reads complete at once.</summary>
    public ValueTask<T?> LoadAsync<T>(string id, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Load<T>(id));
    }

    /// <summary>As <see cref="Load{T}(long)"/>: reads complete at once.</summary>
    public ValueTask<T?> LoadAsync<T>(long id, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Load<T>(id));
    }

    /// <summary>As <see cref="Load{T}(Guid)"/>: reads complete at once.</summary>
    public ValueTask<T?> LoadAsync<T>(Guid id, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Load<T>(id));
    }

    /// <summary>As <see cref="Load{T}(IEnumerable{string})"/>: reads complete at once.</summary>
    public ValueTask<IReadOnlyDictionary<string, T?>> LoadAsync<T>(
        IEnumerable<string> ids, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Load<T>(ids));
    }

    /// <summary>As <see cref="Store"/>, which needs no waiting.</summary>
    public ValueTask StoreAsync(
        object entity, string? id = null, string? changeVector = null, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Store(entity, id, changeVector);
        return default;
    }

    /// <summary>
    /// The objects of documents whose id starts with a prefix, in id order; those deleted in this session are left out.
    /// </summary>
    /// <param name="prefix">Which documents.</param>
    /// <param name="start">How many to pass over.</param>
    /// <param name="pageSize">How many at most.</param>
    /// <exception cref="TreepieException">A document does not fit the type.</exception>
    public IReadOnlyList<T> LoadStartingWith<T>(DocumentPrefix prefix, int start = 0, int pageSize = 25)
        where T : class
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        using DatabaseSnapshot snapshot = BeginRead();
        return SessionLoads.StartingWith<T>(this, prefix, start, pageSize, snapshot);
    }

    /// <summary>
    /// The objects of documents whose id starts with a prefix; see <see cref="LoadStartingWith{T}(DocumentPrefix, int, int)"/>.
    /// </summary>
    public IReadOnlyList<T> LoadStartingWith<T>(string prefix, int start = 0, int pageSize = 25)
        where T : class => LoadStartingWith<T>(new DocumentPrefix { StartsWith = prefix }, start, pageSize);

    /// <summary>As <see cref="LoadStartingWith{T}(string, int, int)"/>: reads complete at once.</summary>
    public ValueTask<IReadOnlyList<T>> LoadStartingWithAsync<T>(
        string prefix, int start = 0, int pageSize = 25, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(LoadStartingWith<T>(prefix, start, pageSize));
    }

    /// <summary>As <see cref="SessionAdvanced.CountersFor(string)"/>.</summary>
    public SessionCounters CountersFor(string documentId) => Advanced.CountersFor(documentId);

    /// <summary>As <see cref="SessionAdvanced.CountersFor(object)"/>.</summary>
    public SessionCounters CountersFor(object entity) => Advanced.CountersFor(entity);

    /// <summary>As <see cref="SessionAdvanced.TimeSeriesFor(string, string)"/>.</summary>
    public SessionTimeSeries TimeSeriesFor(string documentId, string name) => Advanced.TimeSeriesFor(documentId, name);

    /// <summary>As <see cref="SessionAdvanced.TimeSeriesFor(object, string)"/>.</summary>
    public SessionTimeSeries TimeSeriesFor(object entity, string name) => Advanced.TimeSeriesFor(entity, name);

    /// <summary>As <see cref="SessionAdvanced.TimeSeriesFor{T}(string, string?)"/>.</summary>
    public TypedTimeSeries<T> TimeSeriesFor<T>(string documentId, string? name = null)
        where T : class, new() => Advanced.TimeSeriesFor<T>(documentId, name);

    /// <summary>As <see cref="SessionAdvanced.TimeSeriesFor{T}(object, string?)"/>.</summary>
    public TypedTimeSeries<T> TimeSeriesFor<T>(object entity, string? name = null)
        where T : class, new() => Advanced.TimeSeriesFor<T>(entity, name);

    /// <summary>
    /// Stores an object with the next save. Without an id, given or in its property <c>Id</c>, it gets one at once,
    /// <c>users/33-A</c>; one that ends in <c>/</c> or <c>|</c> is completed by the save.
    /// </summary>
    /// <param name="entity">The object.</param>
    /// <param name="id">Its id; null: its own, or the next.</param>
    /// <param name="changeVector">Null: what the session's options say; empty: the document must not exist; else what it must be
    /// at.</param>
    /// <exception cref="InvalidOperationException">Another object of this session has that id, or this one another
    /// id.</exception>
    /// <exception cref="InvalidDocumentException">The id is not valid.</exception>
    /// <exception cref="TreepieException">Objects of the type would lose data as documents; the message says where.</exception>
    public void Store(object entity, string? id = null, string? changeVector = null)
    {
        ArgumentNullException.ThrowIfNull(entity);
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (_objects.TryGet(entity, out TrackedEntity? tracked))
        {
            if (id is not null && !IdComparer.Instance.Equals(id, tracked.Id))
                throw new InvalidOperationException(
                    $"This object is stored in this session as '{tracked.Id}' and cannot be stored as '{id}' too. Store a copy.");
            tracked.IsDeleted = false;
            tracked.ExpectedChangeVector = changeVector ?? tracked.ExpectedChangeVector;
            return;
        }

        using SessionGuard.Scope scope = _guard.Enter();
        EntityType type = TypeOf(entity.GetType());
        id = string.IsNullOrEmpty(id) ? type.Id?.Get(entity) : id;
        if (string.IsNullOrEmpty(id))
            id = type.Id?.Next(_database.HiLoIds, type.Tag) ?? _database.HiLoIds.Next(type.Tag);
        DocumentId.Encode(id, _database.Options.MaxIdBytes);
        tracked = new TrackedEntity(entity, type, id) { ExpectedChangeVector = changeVector };
        if (!tracked.HasOpenId && _objects.TryGet(id, out TrackedEntity? other) && !other.IsDeleted)
            throw new InvalidOperationException(
                $"Another object is stored in this session as '{id}'. Change that one, or evict it first.");
        if (!tracked.HasOpenId)
            type.Id?.Set(entity, id);
        _objects.Add(tracked);
    }

    /// <summary>Deletes the document of an object with the next save.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
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
    /// Deletes a document with the next save, whether it exists or not, unless a change vector is given that it must be at.
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
    /// Saves all changes in one batch: all or none. Deletions come first, so that an id can be given to another object. Completes
    /// when it is durable; objects then have their ids and new change vectors. After an error the session is as before.
    /// </summary>
    /// <exception cref="ConcurrencyException">Somebody else changed a document first.</exception>
    /// <exception cref="InvalidDocumentException">An object is no valid document, or over a limit.</exception>
    public async Task SaveChangesAsync(CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        using (_guard.EnterSave())
        {
            if (await Saver.SaveAsync(_objects.All, _missing, _deletions, _commands, cancellationToken)
                .ConfigureAwait(false) is not { } outcome)
                return;
            Requests.Add();
            if (_commands?.Count > 0)
                _included?.ForgetBeside();
            _deletions?.Clear();
            _commands?.Clear();
            _missing = null;
            outcome.Deleted.ToList().ForEach(_objects.Remove);
            foreach (TrackedEntity put in outcome.Put)
                _objects.Name(put);
            SavedCommands.Apply(this, outcome.Commands);
            if (_disposed)
                Forget(); // it was disposed while it saved
        }

        if (_advanced?.IndexWait is { } wait)
            await wait.WaitAsync(_database, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>As <see cref="SaveChangesAsync"/>; the thread waits until it is durable.</summary>
    /// <exception cref="ConcurrencyException">Somebody else changed a document first.</exception>
    /// <exception cref="InvalidDocumentException">An object is no valid document, or over a limit.</exception>
    public void SaveChanges() => SaveChangesAsync().GetAwaiter().GetResult();

    /// <summary>A query in LINQ over the documents of a type's collection, or of an index.</summary>
    /// <param name="indexName">The index that is asked, whose fields the members of the type then are; null: the collection, by
    /// indexes made as they are needed.</param>
    public IDocumentQueryable<T> Query<T>(string? indexName = null)
        where T : class
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        return new DocumentQueryable<T>(new QueryModel(Queries, typeof(T), indexName, Queries.ReadResult<T>));
    }

    /// <summary>A query in RQL, with values for its parameters by <see cref="RawDocumentQuery{T}.AddParameter"/>.</summary>
    public RawDocumentQuery<T> RawQuery<T>(string rql)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(rql);
        return new RawDocumentQuery<T>(Queries, rql, []);
    }

    /// <summary>A query in RQL as an interpolated string, whose holes become parameters.</summary>
    public RawDocumentQuery<T> RawQuery<T>(RqlInterpolatedStringHandler rql)
        where T : class => new(Queries, rql.Text, [.. rql.Values.Select(value => ((string?)null, value))]);

    /// <summary>
    /// Loads documents with those whose ids a member of them has: <c>session.Include&lt;Order&gt;(o =>
    /// o.CompanyId).Load&lt;Order&gt;("orders/1")</c>.
    /// </summary>
    public IncludeLoader<T> Include<T>(Expression<Func<T, object?>> member)
        where T : class => new IncludeLoader<T>(this, [], []).Include(member);

    /// <summary>
    /// Runs a query and gives its results: objects of this session where they are whole documents, new objects where they are
    /// projections.
    /// </summary>
    /// <param name="rql">The text.</param>
    /// <param name="parameters">
    /// Values of its parameters, by name without <c>$</c>: an object, <c>new { least = 10 }</c>, or a dictionary of string to
    /// object, which needs no serializer for itself.
    /// </param>
    /// <param name="waitForIndex">Waits until the index has everything saved before the query, instead of looking at what it has
    /// not.</param>
    /// <param name="cancellationToken">Ends the wait or the query.</param>
    /// <exception cref="InvalidQueryException">The text is not valid.</exception>
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

    /// <summary>As <see cref="QueryAsync{T}(string, object, bool, CancellationToken)"/>, with all that can be asked.</summary>
    public Task<IReadOnlyList<T>> QueryAsync<T>(QueryRequest request, CancellationToken cancellationToken = default)
        where T : class
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        return Queries.ListAsync<T>(request, cancellationToken);
    }

    /// <summary>The id of an object's document; one that the save completes is given as it was stored.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public string GetDocumentId(object entity) => Tracked(entity).Id;

    /// <summary>The change vector of an object's document as it was loaded or saved; null while it is new.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public string? GetChangeVectorFor(object entity) => Tracked(entity).ChangeVector;

    /// <summary>When an object's document was last modified (UTC); null while it is new.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public DateTime? GetLastModifiedFor(object entity) => Tracked(entity).Document?.LastModified;

    /// <summary>
    /// The metadata of an object's document. Changes to it are saved; <c>@id</c>, <c>@change-vector</c> and <c>@last-modified</c>
    /// are given by the database and not among it.
    /// </summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public JsonObject GetMetadataFor(object entity)
    {
        return Tracked(entity).ReadMetadata(_database.Options.MaxDocumentDepth);
    }

    /// <summary>Whether a document's object is in this session.</summary>
    public bool IsLoaded(string id) => _objects.TryGet(id, out TrackedEntity? tracked) && !tracked.IsDeleted;

    /// <summary>Forgets an object: it is not saved, and the next load reads its document anew.</summary>
    public void Evict(object entity)
    {
        using SessionGuard.Scope scope = _guard.Enter();
        if (_objects.TryGet(entity, out TrackedEntity? tracked))
            _objects.Remove(tracked);
        if (tracked is not null)
            _included?.Beside?.Forget(tracked.Id);
    }

    /// <summary>Forgets everything.</summary>
    public void Clear()
    {
        using SessionGuard.Scope scope = _guard.Enter();
        Forget();
    }

    /// <summary>Forgets everything; what was not saved is lost. A save that is on its way goes on to its end.</summary>
    public void Dispose()
    {
        _disposed = true;
        if (!_guard.IsSaving)
            Forget();
    }

    /// <summary>As <see cref="Dispose"/>.</summary>
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
        _missing = null;
        _commands?.ForEach(static command => command.DisposeAsync().AsTask().GetAwaiter().GetResult());
        _commands?.Clear();
    }

    internal SessionQueries Queries => _queries ??= new SessionQueries(this, _options);

    internal ISessionHost Database => _database;

    /// <summary>What is asked of the database.</summary>
    internal SessionRequests Requests { get; }

    /// <summary>Loads and queries that wait.</summary>
    internal LazyOperations LazyOperations => _lazy ??= new LazyOperations(this, _options.MaxTrackedDocuments);

    /// <summary>What lies beside documents and was brought along; null: nothing.</summary>
    internal IncludedBeside? Beside => _included?.Beside;

    private SessionIncludes Included => _included ??= new SessionIncludes(_options.MaxTrackedDocuments);

    /// <summary>Begins to read, which is a request.</summary>
    internal DatabaseSnapshot BeginRead() => Requests.BeginRead();

    internal SessionSaver Saver => field ??= new SessionSaver(_database, _options);

    internal IReadOnlyCollection<TrackedEntity> Entities => _objects.All;

    internal IReadOnlyList<SessionCommand> Commands => _commands ?? [];

    internal IReadOnlyCollection<string> DeletedIds => _deletions is null ? [] : _deletions.Keys;

    /// <summary>Adds something that the next save does beside the documents.</summary>
    internal void Defer(SessionCommand command)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        using (_guard.Enter())
            (_commands ??= []).Add(command);
    }

    /// <summary>Keeps what an answer includes: reading it takes no request.</summary>
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

    /// <summary>The id that an object's document has already.</summary>
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
        return document.IdText(id) is var own && ReferenceEquals(own, id) // which was looked for before
            ? Track<T>(own, DocumentCopy.Of(document, Guarded(document, own)))
            : Track<T>(document);
    }

    /// <summary>What the session has of a document that is not stored: an object that is to be, if anything.</summary>
    internal T? Missing<T>(string id)
        where T : class
    {
        if (TryFindTracked(id, out T? entity))
            return entity;
        if (_options.ChecksLoads)
            (_missing ??= new HashSet<string>(IdComparer.Instance)).Add(id);
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

    /// <summary>An object of the session by the id of its document, if it is not deleted.</summary>
    internal TrackedEntity? FindTracked(string id) =>
        _objects.TryGet(id, out TrackedEntity? tracked) && !tracked.IsDeleted ? tracked : null;

    /// <summary>Brings an object to what its document is now.</summary>
    internal void Refresh(TrackedEntity tracked, Document document) => tracked.Refresh(
        DocumentCopy.Of(document, Guarded(document, tracked.Id)), Saver.Json.Read(tracked.Type, tracked.Id, document.Body));

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
