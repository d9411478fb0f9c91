using System.Runtime.CompilerServices;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization.Metadata;
using Treepie.Linq;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>What of a session is needed less often.</summary>
public sealed class SessionAdvanced
{
    private readonly DocumentSession _session;
    private SessionAttachments? _attachments;
    private SessionClusterTransaction? _cluster;
    private SessionLazily? _lazily;

    internal SessionAdvanced(DocumentSession session) => _session = session;

    /// <summary>Whether a save would write something.</summary>
    public bool HasChanges => _session.HasChanges;

    /// <summary>Attachments of documents.</summary>
    public SessionAttachments Attachments => _attachments ??= new SessionAttachments(_session);

    /// <summary>Compare-exchange values, for sessions that are cluster-wide.</summary>
    public SessionClusterTransaction ClusterTransaction => _cluster ??= new SessionClusterTransaction(_session);

    /// <summary>Loads that are done when their values are asked for.</summary>
    public SessionLazily Lazily => _lazily ??= new SessionLazily(_session);

    internal IndexWait? IndexWait { get; private set; }

    /// <summary>What the next save will write, by document.</summary>
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
            else if (tracked.IsNew)
                changes[tracked.Id] = [new SessionChange(SessionChangeKind.DocumentAdded)];
            else if (_session.Saver.NeedsPut(tracked, out byte[] now))
                changes[tracked.Id] = SessionDiff.Of(_session.Saver.Before(tracked), now);
        }

        return changes;
    }

    /// <summary>Whether an object would be saved.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public bool HasChanged(object entity)
    {
        TrackedEntity tracked = _session.Tracked(entity);
        return tracked.IsDeleted || _session.Saver.NeedsPut(tracked, out _);
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
        using DatabaseSnapshot snapshot = _session.Database.BeginRead();
        return snapshot.TryGet(id, out _);
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
        using DatabaseSnapshot snapshot = _session.Database.BeginRead();
        if (!snapshot.TryGet(tracked.Id, out Document document))
            throw new InvalidOperationException(
                $"Document '{tracked.Id}' was deleted since it was loaded: there is nothing to refresh its object from. Evict "
                    + $"it, or store it anew.");

        object fresh = _session.Saver.Json.Read(tracked.Type, tracked.Id, document.Body);
        foreach (JsonPropertyInfo property in tracked.Type.Json.Options.GetTypeInfo(entity.GetType()).Properties)
            if (property is { Get: { } get, Set: { } set })
                set(entity, get(fresh));
        tracked.Refresh(document, _session.Guarded(document, tracked.Id));
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
        return QueryRun.RowsAsync<StreamResult<T>>(model with { Track = Untracked<T> }, cancellationToken);
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
        using DatabaseSnapshot snapshot = _session.Database.BeginRead();
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
