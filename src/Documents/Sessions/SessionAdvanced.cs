using System.Linq.Expressions;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Text.Json.Nodes;
using Treepie.Kinds;
using Treepie.Linq;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>Less common operations of a session.</summary>
public sealed class SessionAdvanced
{
    private readonly DocumentSession _session;
    private SessionAttachments? _attachments;
    private SessionClusterTransaction? _cluster;
    private SessionEagerly? _eagerly;
    private SessionLazily? _lazily;
    private SessionPatches? _patches;
    private SessionRevisions? _revisions;

    internal SessionAdvanced(DocumentSession session) => _session = session;

    /// <summary>Whether the session has changes to save.</summary>
    public bool HasChanges => _session.HasChanges;

    /// <summary>
    /// The number of requests that the session has made: loads, reads of related data, queries and saves. Data that the session
    /// already has needs no request.
    /// </summary>
    public int NumberOfRequests => _session.Requests.Count;

    /// <summary>Attachments of documents.</summary>
    public SessionAttachments Attachments => _attachments ??= new SessionAttachments(_session);

    /// <summary>Compare-exchange values, for cluster-wide sessions.</summary>
    public SessionClusterTransaction ClusterTransaction => _cluster ??= new SessionClusterTransaction(_session);

    /// <summary>Executes pending lazy loads and queries.</summary>
    public SessionEagerly Eagerly => _eagerly ??= new SessionEagerly(_session.LazyOperations);

    /// <summary>Lazy loads, which are executed when a value is first read.</summary>
    public SessionLazily Lazily => _lazily ??= new SessionLazily(_session, _session.LazyOperations);

    /// <summary>Revisions of documents.</summary>
    public SessionRevisions Revisions => _revisions ??= new SessionRevisions(_session);

    private SessionPatches Patches => _patches ??= new SessionPatches(_session);

    internal IndexWait? IndexWait { get; private set; }

    /// <summary>
    /// Returns the changes that the next save will make, by document id; those of compare-exchange values are listed by key.
    /// Changes of related data follow those of the document, in the order of the calls.
    /// </summary>
    public IReadOnlyDictionary<string, IReadOnlyList<SessionChange>> WhatChanged()
    {
        _session.RequireOpen();
        var changes = new Dictionary<string, IReadOnlyList<SessionChange>>(IdComparer.Instance);
        foreach (string id in _session.DeletedIds)
            changes[id] = [new SessionChange(SessionChangeKind.DocumentDeleted)];
        foreach (TrackedEntity tracked in _session.Entities)
        {
            if (tracked.IsDeleted)
                changes[tracked.Id] = [new SessionChange(SessionChangeKind.DocumentDeleted)];
            else if (tracked.Document is not { } document)
                changes[tracked.Id] = [new SessionChange(SessionChangeKind.DocumentAdded)];
            else if (_session.Saver.Changed(tracked) is { } now)
                changes[tracked.Id] = SessionDiff.Of(_session.Saver.Before(tracked, document), now);
        }

        foreach (IGrouping<string, (string Id, SessionChange Change)> beside in _session.Commands
            .SelectMany(static command => command.Changes).GroupBy(static one => one.Id, IdComparer.Instance))
            changes[beside.Key] =
                [.. changes.GetValueOrDefault(beside.Key) ?? [], .. beside.Select(static one => one.Change)];
        return changes;
    }

    /// <summary>Returns whether the next save would write an entity.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public bool HasChanged(object entity)
    {
        TrackedEntity tracked = _session.Tracked(entity);
        return tracked.IsDeleted || _session.Saver.Changed(tracked) is not null;
    }

    /// <summary>Stops tracking an entity: it is not saved, and the next load reads its document again.</summary>
    public void Evict(object entity) => _session.Evict(entity);

    /// <summary>Stops tracking all entities and discards all pending changes.</summary>
    public void Clear() => _session.Clear();

    /// <summary>Returns whether the session tracks an entity with the specified id.</summary>
    public bool IsLoaded(string id) => _session.IsLoaded(id);

    /// <summary>Returns the id of an entity.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public string GetDocumentId(object entity) => _session.GetDocumentId(entity);

    /// <summary>Returns the metadata of an entity's document; changes to it are saved.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public JsonObject GetMetadataFor(object entity) => _session.GetMetadataFor(entity);

    /// <summary>Returns the change vector of an entity's document as of its last load or save; null if it is new.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public string? GetChangeVectorFor(object entity) => _session.GetChangeVectorFor(entity);

    /// <summary>Returns when an entity's document was last modified, in UTC; null if it is new.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public DateTime? GetLastModifiedFor(object entity) => _session.GetLastModifiedFor(entity);

    /// <summary>Returns whether a document exists, without loading it.</summary>
    public bool Exists(string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.BeginDocumentRead();
        bool exists = snapshot.TryGet(id, out Document document);
        _session.Reads?.Note(id, exists ? document.ChangeVector : "");
        return exists;
    }

    /// <summary>Same as <see cref="Exists"/>; completes synchronously.</summary>
    public ValueTask<bool> ExistsAsync(string id, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Exists(id));
    }

    /// <summary>Updates an entity to the current state of its document and discards unsaved changes to it.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity, it is new, its document no longer
    /// exists, or the entity cannot take over a change of the document, as only its constructor sets the member.</exception>
    public void Refresh(object entity)
    {
        using SessionGuard.Scope scope = _session.Enter();
        TrackedEntity tracked = _session.Tracked(entity);
        if (tracked.IsNew)
            throw new InvalidOperationException(
                $"The object with id '{tracked.Id}' is not saved yet: there is no document to refresh it from.");
        using DatabaseSnapshot snapshot = _session.BeginDocumentRead();
        if (!snapshot.TryGet(tracked.Id, out Document document))
            throw new InvalidOperationException(
                $"Document '{tracked.Id}' was deleted since it was loaded: there is nothing to refresh its object from. Evict "
                    + $"it, or store it anew.");

        _session.Objects.RequireFree(tracked);
        if (!_session.TryRefresh(tracked, document))
            throw new InvalidOperationException(
                $"Document '{tracked.Id}' has changed in what an object of type {tracked.Entity.GetType().Name} cannot take "
                    + "over: members that only its constructor or an initializer sets, or its type. Evict the object and "
                    + "load it again.");
    }

    /// <summary>Same as <see cref="Refresh(object)"/>; completes synchronously.</summary>
    public ValueTask RefreshAsync(object entity, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Refresh(entity);
        return default;
    }

    /// <summary>
    /// Loads an entity if its document has changed since the specified change vector, and returns it with its current change
    /// vector. If the document has not changed, the entity is null and nothing is read; if it does not exist, both are null.
    /// </summary>
    /// <exception cref="TreepieException">The document cannot be deserialized to the type.</exception>
    public (T? Entity, string? ChangeVector) ConditionalLoad<T>(string id, string changeVector)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(id);
        ArgumentNullException.ThrowIfNull(changeVector);
        _session.RequireOpen();
        if (_session.IsLoaded(id) && _session.Load<T>(id) is { } own)
            return (own, _session.GetChangeVectorFor(own));
        using DatabaseSnapshot snapshot = _session.BeginDocumentRead();
        bool exists = snapshot.TryGet(id, out Document document);
        _session.Reads?.Note(id, exists ? document.ChangeVector : "");
        if (!exists)
            return (null, null);
        string now = document.ChangeVector;
        return now == changeVector ? (null, now) : (_session.Track<T>(document), now);
    }

    /// <summary>Same as <see cref="ConditionalLoad{T}"/>; completes synchronously.</summary>
    public ValueTask<(T? Entity, string? ChangeVector)> ConditionalLoadAsync<T>(
        string id, string changeVector, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(ConditionalLoad<T>(id, changeVector));
    }

    /// <summary>Patches members of a stored document with the next save, atomically and without loading it.</summary>
    /// <exception cref="NotSupportedException">An expression does not select a member.</exception>
    public void Patch<T>(string id, Action<DocumentPatch<T>> change)
        where T : class => Patches.Add(id, change);

    /// <summary>
    /// Sets a member of a stored document with the next save, without loading it. Does nothing if the document does not exist.
    /// </summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public void Patch<T, TValue>(string id, Expression<Func<T, TValue>> path, TValue value)
        where T : class => Patches.Add<T>(id, patch => patch.Set(path, value));

    /// <summary>Same as <see cref="Patch{T, TValue}(string, Expression{Func{T, TValue}}, TValue)"/>, for the document of an
    /// entity, which has the new value after the save.</summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public void Patch<T, TValue>(T entity, Expression<Func<T, TValue>> path, TValue value)
        where T : class => Patch(_session.IdOf(entity), path, value);

    /// <summary>
    /// Edits an array of a stored document with the next save, without loading it:
    /// <c>Patch&lt;Order, Line&gt;(id, o => o.Lines, lines => lines.Add(line))</c>.
    /// </summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public void Patch<T, TElement>(
        string id, Expression<Func<T, IEnumerable<TElement>>> path, Action<ArrayPatch<TElement>> change)
        where T : class => Patches.Add<T>(id, patch => patch.Change(path, change));

    /// <summary>
    /// Edits an array of an entity's stored document with the next save; the entity has the change after the save.
    /// </summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public void Patch<T, TElement>(
        T entity, Expression<Func<T, IEnumerable<TElement>>> path, Action<ArrayPatch<TElement>> change)
        where T : class => Patch(_session.IdOf(entity), path, change);

    /// <summary>
    /// Adds a number to a member of a stored document with the next save, without loading it, so that concurrent increments are
    /// all counted. A missing member counts as 0.
    /// </summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public void Increment<T, TNumber>(string id, Expression<Func<T, TNumber?>> path, TNumber delta)
        where T : class
        where TNumber : struct, INumber<TNumber> => Patches.Add<T>(id, patch => patch.Increment(path, delta));

    /// <summary>Same as <see cref="Increment{T, TNumber}(string, Expression{Func{T, TNumber?}}, TNumber)"/>, for the document of
    /// an entity, which has the sum after the save.</summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public void Increment<T, TNumber>(T entity, Expression<Func<T, TNumber?>> path, TNumber delta)
        where T : class
        where TNumber : struct, INumber<TNumber> => Increment(_session.IdOf(entity), path, delta);

    /// <summary>Same as <see cref="Patch{T, TValue}(string, Expression{Func{T, TValue}}, TValue)"/>, but stores the entity if the
    /// document does not exist.</summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public void AddOrPatch<T, TValue>(string id, T entity, Expression<Func<T, TValue>> path, TValue value)
        where T : class => Patches.Add<T>(id, patch => patch.Set(path, value), entity);

    /// <summary>Edits an array of a stored document with the next save, or stores the entity if the document does not
    /// exist.</summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public void AddOrPatch<T, TElement>(
        string id, T entity, Expression<Func<T, IEnumerable<TElement>>> path, Action<ArrayPatch<TElement>> change)
        where T : class => Patches.Add<T>(id, patch => patch.Change(path, change), entity);

    /// <summary>Same as <see cref="Increment{T, TNumber}(string, Expression{Func{T, TNumber?}}, TNumber)"/>, but stores the
    /// entity if the document does not exist.</summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public void AddOrIncrement<T, TNumber>(string id, T entity, Expression<Func<T, TNumber?>> path, TNumber delta)
        where T : class
        where TNumber : struct, INumber<TNumber> => Patches.Add<T>(id, patch => patch.Increment(path, delta), entity);

    /// <summary>Returns a time series of a document.</summary>
    /// <exception cref="InvalidDocumentException">The name is not valid.</exception>
    public SessionTimeSeries TimeSeriesFor(string documentId, string name)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        return new SessionTimeSeries(_session, documentId, name);
    }

    /// <summary>Returns a time series of an entity's document.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    /// <exception cref="InvalidDocumentException">The name is not valid.</exception>
    public SessionTimeSeries TimeSeriesFor(object entity, string name) => new(_session, _session.IdOf(entity), name);

    /// <summary>Returns a time series of a document whose values are mapped to properties of a class.</summary>
    /// <param name="documentId">The id of the document.</param>
    /// <param name="name">The name of the time series. Null: the plural of the class's name, such as <c>StockPrices</c>.</param>
    /// <exception cref="TreepieException">The class does not map its properties to values.</exception>
    public TypedTimeSeries<T> TimeSeriesFor<T>(string documentId, string? name = null)
        where T : class, new()
    {
        ArgumentNullException.ThrowIfNull(documentId);
        return new TypedTimeSeries<T>(_session, documentId, name);
    }

    /// <summary>Same as <see cref="TimeSeriesFor{T}(string, string?)"/>, for the document of an entity.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    /// <exception cref="TreepieException">The class does not map its properties to values.</exception>
    public TypedTimeSeries<T> TimeSeriesFor<T>(object entity, string? name = null)
        where T : class, new() => new(_session, _session.IdOf(entity), name);

    /// <summary>Returns the time series of a document with their statistics, sorted by name.</summary>
    public IReadOnlyList<TimeSeriesStatistics> GetTimeSeriesFor(string documentId)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return snapshot.TimeSeriesOf(documentId);
    }

    /// <summary>Same as <see cref="GetTimeSeriesFor"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyList<TimeSeriesStatistics>> GetTimeSeriesForAsync(
        string documentId, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(GetTimeSeriesFor(documentId));
    }

    /// <summary>Makes every following save of this session wait until the indexes have processed what was saved.</summary>
    /// <param name="timeout">The maximum time to wait. Null: the database's default.</param>
    /// <param name="indexes">The names of the indexes to wait for. Null: all.</param>
    /// <param name="throwOnTimeout">Whether a timeout throws an exception; the changes stay saved in either case.</param>
    public void WaitForIndexesAfterSaveChanges(
        TimeSpan? timeout = null, IReadOnlyList<string>? indexes = null, bool throwOnTimeout = true) =>
        IndexWait = new IndexWait(timeout ?? _session.Database.Options.DefaultStaleWait, indexes, throwOnTimeout);

    /// <summary>Returns the counters of a document.</summary>
    public SessionCounters CountersFor(string documentId)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        return new SessionCounters(_session, documentId);
    }

    /// <summary>Returns the counters of an entity's document.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public SessionCounters CountersFor(object entity) => new(_session, _session.IdOf(entity));

    /// <summary>
    /// Streams the results of a query one at a time, with only one in memory. The session does not track them.
    /// </summary>
    /// <exception cref="NotSupportedException">The query is a projection; stream it with <c>await foreach</c> over the query
    /// itself.</exception>
    public IAsyncEnumerable<StreamResult<T>> StreamAsync<T>(
        IDocumentQueryable<T> query, CancellationToken cancellationToken = default)
        where T : class
    {
        if (query is not DocumentQueryable<T> { Model: { Projection: null, Into: null } model })
            throw new NotSupportedException(
                "Streams are of whole documents. A projection is not followed by the session anyway: 'await foreach' over the "
                    + "query.");
        return QueryRun.RowsAsync<StreamResult<T>>(
            model with { Read = results => Untracked<T>(results.Current) }, cancellationToken);
    }

    /// <summary>Same as above, for a query given as text.</summary>
    /// <exception cref="NotSupportedException">The query is a projection.</exception>
    public IAsyncEnumerable<StreamResult<T>> StreamAsync<T>(
        RawDocumentQuery<T> query, CancellationToken cancellationToken = default)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(query);
        return query.RowsAsync(
            long.MaxValue,
            results => results.IsProjection || results.IsComputed
                ? throw new NotSupportedException(
                    "Streams are of whole documents, and the query selects something else, which the session does not follow "
                        + "anyway: 'await foreach' over the query.")
                : Untracked<T>(results.Current),
            cancellationToken);
    }

    /// <summary>
    /// Streams the documents whose ids start with a prefix, one at a time. The session does not track them.
    /// </summary>
    public async IAsyncEnumerable<StreamResult<T>> StreamAsync<T>(
        DocumentPrefix prefix, [EnumeratorCancellation] CancellationToken cancellationToken = default)
        where T : class
    {
        _session.RequireOpen();
        await Task.CompletedTask.ConfigureAwait(false); // reads complete synchronously
        _session.Reads?.NotePrefix(prefix.StartsWith);
        using DatabaseSnapshot snapshot = _session.BeginDocumentRead();
        using DocumentCursor cursor = snapshot.ByPrefix(prefix);
        while (cursor.MoveNext())
        {
            cancellationToken.ThrowIfCancellationRequested();
            StreamResult<T> result = Untracked<T>(cursor.Current);
            snapshot.ReleasePages();
            yield return result;
        }
    }

    private StreamResult<T> Untracked<T>(Document document)
        where T : class
    {
        string id = document.IdText();
        object read = _session.Saver.Json.Read(_session.TypeOf(typeof(T)), id, document.Body);
        return read is T entity
            ? new StreamResult<T>(id, entity, document.ChangeVector)
            : throw new TreepieException(
                $"Document '{id}' is of type {read.GetType().Name} and cannot be read as {typeof(T).Name}.");
    }
}
