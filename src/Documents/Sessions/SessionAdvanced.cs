using System.Linq.Expressions;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Text.Json.Nodes;
using Treepie.Kinds;
using Treepie.Linq;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>What of a session is needed less often.</summary>
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

    /// <summary>Whether a save would write something.</summary>
    public bool HasChanges => _session.HasChanges;

    /// <summary>
    /// How often the session asked the database: loads, reads beside documents, queries and saves. What it has needs none.
    /// </summary>
    public int NumberOfRequests => _session.Requests.Count;

    /// <summary>Attachments of documents.</summary>
    public SessionAttachments Attachments => _attachments ??= new SessionAttachments(_session);

    /// <summary>Compare-exchange values, for sessions that are cluster-wide.</summary>
    public SessionClusterTransaction ClusterTransaction => _cluster ??= new SessionClusterTransaction(_session);

    /// <summary>Runs lazy loads and queries that wait.</summary>
    public SessionEagerly Eagerly => _eagerly ??= new SessionEagerly(_session.LazyOperations);

    /// <summary>Loads that wait until a value is asked for.</summary>
    public SessionLazily Lazily => _lazily ??= new SessionLazily(_session, _session.LazyOperations);

    /// <summary>States that documents had.</summary>
    public SessionRevisions Revisions => _revisions ??= new SessionRevisions(_session);

    private SessionPatches Patches => _patches ??= new SessionPatches(_session);

    internal IndexWait? IndexWait { get; private set; }

    /// <summary>
    /// What the next save will write, by document; compare-exchange values stand under their key. What lies beside documents
    /// comes behind the changes of the document, in the order in which it was asked for.
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

    /// <summary>Whether an object would be saved.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public bool HasChanged(object entity)
    {
        TrackedEntity tracked = _session.Tracked(entity);
        return tracked.IsDeleted || _session.Saver.Changed(tracked) is not null;
    }

    /// <summary>Forgets an object: it is not saved, and the next load reads its document anew.</summary>
    public void Evict(object entity) => _session.Evict(entity);

    /// <summary>Forgets everything.</summary>
    public void Clear() => _session.Clear();

    /// <summary>Whether a document's object is in this session.</summary>
    public bool IsLoaded(string id) => _session.IsLoaded(id);

    /// <summary>The id of an object's document.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public string GetDocumentId(object entity) => _session.GetDocumentId(entity);

    /// <summary>The metadata of an object's document; changes to it are saved.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public JsonObject GetMetadataFor(object entity) => _session.GetMetadataFor(entity);

    /// <summary>The change vector of an object's document as it was loaded or saved; null while it is new.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public string? GetChangeVectorFor(object entity) => _session.GetChangeVectorFor(entity);

    /// <summary>When an object's document was last modified (UTC); null while it is new.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public DateTime? GetLastModifiedFor(object entity) => _session.GetLastModifiedFor(entity);

    /// <summary>Whether a document exists, without loading it.</summary>
    public bool Exists(string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return snapshot.TryGet(id, out _);
    }

    /// <summary>As <see cref="Exists"/>: reads complete at once.</summary>
    public ValueTask<bool> ExistsAsync(string id, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Exists(id));
    }

    /// <summary>Brings an object to what its document is now; what was changed of it and not saved is lost.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session, or new, or its document is not there any
    /// more.</exception>
    public void Refresh(object entity)
    {
        TrackedEntity tracked = _session.Tracked(entity);
        if (tracked.IsNew)
            throw new InvalidOperationException(
                $"The object with id '{tracked.Id}' is not saved yet: there is no document to refresh it from.");
        using DatabaseSnapshot snapshot = _session.BeginRead();
        if (!snapshot.TryGet(tracked.Id, out Document document))
            throw new InvalidOperationException(
                $"Document '{tracked.Id}' was deleted since it was loaded: there is nothing to refresh its object from. Evict "
                    + $"it, or store it anew.");

        _session.Refresh(tracked, document);
    }

    /// <summary>As <see cref="Refresh(object)"/>: reads complete at once.</summary>
    public ValueTask RefreshAsync(object entity, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Refresh(entity);
        return default;
    }

    /// <summary>
    /// The object of a document that is no more what it was at a change vector, and the change vector it has now. Where it still
    /// is, the object is null, and nothing is read; where there is no such document, both are.
    /// </summary>
    /// <exception cref="TreepieException">The document does not fit the type.</exception>
    public (T? Entity, string? ChangeVector) ConditionalLoad<T>(string id, string changeVector)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(id);
        ArgumentNullException.ThrowIfNull(changeVector);
        _session.RequireOpen();
        if (_session.IsLoaded(id) && _session.Load<T>(id) is { } own)
            return (own, _session.GetChangeVectorFor(own));
        using DatabaseSnapshot snapshot = _session.BeginRead();
        if (!snapshot.TryGet(id, out Document document))
            return (null, null);
        string now = document.ChangeVector;
        return now == changeVector ? (null, now) : (_session.Track<T>(document), now);
    }

    /// <summary>As <see cref="ConditionalLoad{T}"/>: reads complete at once.</summary>
    public ValueTask<(T? Entity, string? ChangeVector)> ConditionalLoadAsync<T>(
        string id, string changeVector, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(ConditionalLoad<T>(id, changeVector));
    }

    /// <summary>Changes members of a document with the next save, all of them or none, where it is stored.</summary>
    /// <exception cref="NotSupportedException">An expression names no member.</exception>
    public void Patch<T>(string id, Action<DocumentPatch<T>> change)
        where T : class => Patches.Add(id, change);

    /// <summary>
    /// Sets a member of a document with the next save, where it is stored; a document that is not there stays so.
    /// </summary>
    /// <exception cref="NotSupportedException">The expression names no member.</exception>
    public void Patch<T, TValue>(string id, Expression<Func<T, TValue>> path, TValue value)
        where T : class => Patches.Add<T>(id, patch => patch.Set(path, value));

    /// <summary>As <see cref="Patch{T, TValue}(string, Expression{Func{T, TValue}}, TValue)"/>, of an object's document; the
    /// object has the value after the save.</summary>
    /// <exception cref="NotSupportedException">The expression names no member.</exception>
    public void Patch<T, TValue>(T entity, Expression<Func<T, TValue>> path, TValue value)
        where T : class => Patch(_session.IdOf(entity), path, value);

    /// <summary>
    /// Changes an array of a document with the next save, where it is stored: <c>Patch&lt;Order, Line&gt;(id, o => o.Lines, lines
    /// => lines.Add(line))</c>.
    /// </summary>
    /// <exception cref="NotSupportedException">The expression names no member.</exception>
    public void Patch<T, TElement>(
        string id, Expression<Func<T, IEnumerable<TElement>>> path, Action<ArrayPatch<TElement>> change)
        where T : class => Patches.Add<T>(id, patch => patch.Change(path, change));

    /// <summary>As above, of an object's document; the object has the change after the save.</summary>
    /// <exception cref="NotSupportedException">The expression names no member.</exception>
    public void Patch<T, TElement>(
        T entity, Expression<Func<T, IEnumerable<TElement>>> path, Action<ArrayPatch<TElement>> change)
        where T : class => Patch(_session.IdOf(entity), path, change);

    /// <summary>
    /// Adds a number to a member of a document with the next save, where it is stored, so that sums of concurrent saves lose
    /// nothing; what is not there counts as 0.
    /// </summary>
    /// <exception cref="NotSupportedException">The expression names no member.</exception>
    public void Increment<T, TNumber>(string id, Expression<Func<T, TNumber?>> path, TNumber delta)
        where T : class
        where TNumber : struct, INumber<TNumber> => Patches.Add<T>(id, patch => patch.Increment(path, delta));

    /// <summary>As <see cref="Increment{T, TNumber}(string, Expression{Func{T, TNumber?}}, TNumber)"/>, of an object's document;
    /// the object has the sum after the save.</summary>
    /// <exception cref="NotSupportedException">The expression names no member.</exception>
    public void Increment<T, TNumber>(T entity, Expression<Func<T, TNumber?>> path, TNumber delta)
        where T : class
        where TNumber : struct, INumber<TNumber> => Increment(_session.IdOf(entity), path, delta);

    /// <summary>As <see cref="Patch{T, TValue}(string, Expression{Func{T, TValue}}, TValue)"/>; where there is no document, the
    /// object becomes it.</summary>
    /// <exception cref="NotSupportedException">The expression names no member.</exception>
    public void AddOrPatch<T, TValue>(string id, T entity, Expression<Func<T, TValue>> path, TValue value)
        where T : class => Patches.Add<T>(id, patch => patch.Set(path, value), entity);

    /// <summary>As above, of an array.</summary>
    /// <exception cref="NotSupportedException">The expression names no member.</exception>
    public void AddOrPatch<T, TElement>(
        string id, T entity, Expression<Func<T, IEnumerable<TElement>>> path, Action<ArrayPatch<TElement>> change)
        where T : class => Patches.Add<T>(id, patch => patch.Change(path, change), entity);

    /// <summary>As <see cref="Increment{T, TNumber}(string, Expression{Func{T, TNumber?}}, TNumber)"/>; where there is no
    /// document, the object becomes it.</summary>
    /// <exception cref="NotSupportedException">The expression names no member.</exception>
    public void AddOrIncrement<T, TNumber>(string id, T entity, Expression<Func<T, TNumber?>> path, TNumber delta)
        where T : class
        where TNumber : struct, INumber<TNumber> => Patches.Add<T>(id, patch => patch.Increment(path, delta), entity);

    /// <summary>A time series of a document.</summary>
    /// <exception cref="InvalidDocumentException">The name cannot be one.</exception>
    public SessionTimeSeries TimeSeriesFor(string documentId, string name)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        return new SessionTimeSeries(_session, documentId, name);
    }

    /// <summary>A time series of an object's document.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    /// <exception cref="InvalidDocumentException">The name cannot be one.</exception>
    public SessionTimeSeries TimeSeriesFor(object entity, string name) => new(_session, _session.IdOf(entity), name);

    /// <summary>A time series of a document whose values are properties of a class.</summary>
    /// <param name="documentId">The document.</param>
    /// <param name="name">The series; null: the plural of the class's name, <c>StockPrices</c>.</param>
    /// <exception cref="TreepieException">The class does not say which property is which value.</exception>
    public TypedTimeSeries<T> TimeSeriesFor<T>(string documentId, string? name = null)
        where T : class, new()
    {
        ArgumentNullException.ThrowIfNull(documentId);
        return new TypedTimeSeries<T>(_session, documentId, name);
    }

    /// <summary>As <see cref="TimeSeriesFor{T}(string, string?)"/>, of an object's document.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    /// <exception cref="TreepieException">The class does not say which property is which value.</exception>
    public TypedTimeSeries<T> TimeSeriesFor<T>(object entity, string? name = null)
        where T : class, new() => new(_session, _session.IdOf(entity), name);

    /// <summary>The time series that a document has, in order of their names.</summary>
    public IReadOnlyList<TimeSeriesStatistics> GetTimeSeriesFor(string documentId)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return snapshot.TimeSeriesOf(documentId);
    }

    /// <summary>After every save of this session, waits until the indexes have seen what was saved.</summary>
    /// <param name="timeout">Longest wait; null: the database's default.</param>
    /// <param name="indexes">Names of the indexes; null: all.</param>
    /// <param name="throwOnTimeout">Whether a wait that takes too long is an error; what was saved stays saved.</param>
    public void WaitForIndexesAfterSaveChanges(
        TimeSpan? timeout = null, IReadOnlyList<string>? indexes = null, bool throwOnTimeout = true) =>
        IndexWait = new IndexWait(timeout ?? _session.Database.Options.DefaultStaleWait, indexes, throwOnTimeout);

    /// <summary>Counters of a document.</summary>
    public SessionCounters CountersFor(string documentId)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        return new SessionCounters(_session, documentId);
    }

    /// <summary>Counters of an object's document.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public SessionCounters CountersFor(object entity) => new(_session, _session.IdOf(entity));

    /// <summary>
    /// The results of a query one after another, in the memory of one: objects that the session does not follow.
    /// </summary>
    /// <exception cref="NotSupportedException">The query is a projection: <c>await foreach</c> over it streams as it
    /// is.</exception>
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

    /// <summary>
    /// The documents whose id starts with a prefix, one after another: objects that the session does not follow.
    /// </summary>
    public async IAsyncEnumerable<StreamResult<T>> StreamAsync<T>(
        DocumentPrefix prefix, [EnumeratorCancellation] CancellationToken cancellationToken = default)
        where T : class
    {
        _session.RequireOpen();
        await Task.CompletedTask.ConfigureAwait(false); // reads complete at once
        using DatabaseSnapshot snapshot = _session.BeginRead();
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
