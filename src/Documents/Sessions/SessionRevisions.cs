using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>
/// Revisions of documents. They are returned as untracked objects: a revision cannot be changed and saved.
/// </summary>
public sealed class SessionRevisions
{
    private readonly DocumentSession _session;

    internal SessionRevisions(DocumentSession session) => _session = session;

    /// <summary>Returns revisions of a document, newest first; skips revisions of deletions.</summary>
    /// <exception cref="TreepieException">A revision cannot be deserialized to the type.</exception>
    public IReadOnlyList<T> GetFor<T>(string id, int start = 0, int pageSize = 25)
        where T : class
    {
        CheckPage(id, start, pageSize);
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return
        [
            .. snapshot.Revisions(id)
                .Where(revision => !revision.IsDeletion)
                .Skip(start)
                .Take(pageSize)
                .Select(Read<T>),
        ];
    }

    /// <summary>Same as <see cref="GetFor"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyList<T>> GetForAsync<T>(
        string id, int start = 0, int pageSize = 25, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(GetFor<T>(id, start, pageSize));
    }

    /// <summary>Returns the metadata of revisions of a document, including those of deletions, newest first.</summary>
    public IReadOnlyList<JsonObject> GetMetadataFor(string id, int start = 0, int pageSize = 25)
    {
        CheckPage(id, start, pageSize);
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return [.. snapshot.Revisions(id, metadataOnly: true).Skip(start).Take(pageSize).Select(Metadata)];
    }

    /// <summary>Returns the revision with the specified change vector; null if there is none or it is of a deletion.</summary>
    /// <exception cref="TreepieException">The revision cannot be deserialized to the type.</exception>
    public T? Get<T>(string changeVector)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(changeVector);
        _session.RequireOpen();
        if (_session.Beside is { } beside && beside.TryRevision(changeVector, out Revision? included))
            return included is { IsDeletion: false } ? Read<T>(included) : null;
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return snapshot.RevisionOf(changeVector) is { IsDeletion: false } revision ? Read<T>(revision) : null;
    }

    /// <summary>
    /// Returns the revision that was current at a point in time (UTC, unless its kind is local); null if the document did not
    /// exist then or no such revision is kept.
    /// </summary>
    /// <exception cref="TreepieException">The revision cannot be deserialized to the type.</exception>
    public T? Get<T>(string id, DateTime time)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(id);
        _session.RequireOpen();
        time = SessionTime.Utc(time);
        if (_session.Beside is { } beside && beside.TryRevision(id, time, out Revision? included))
            return included is { IsDeletion: false } ? Read<T>(included) : null;
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return snapshot.RevisionBefore(id, time) is { IsDeletion: false } revision ? Read<T>(revision) : null;
    }

    /// <summary>Returns the number of revisions of a document, including those of deletions.</summary>
    public long GetCountFor(string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return snapshot.RevisionCount(id);
    }

    /// <summary>Same as <see cref="GetMetadataFor"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyList<JsonObject>> GetMetadataForAsync(
        string id, int start = 0, int pageSize = 25, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(GetMetadataFor(id, start, pageSize));
    }

    /// <summary>Same as <see cref="Get{T}(string)"/>; completes synchronously.</summary>
    public ValueTask<T?> GetAsync<T>(
        string changeVector, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Get<T>(changeVector));
    }

    /// <summary>Same as <see cref="Get{T}(string, DateTime)"/>; completes synchronously.</summary>
    public ValueTask<T?> GetAsync<T>(
        string id, DateTime time, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Get<T>(id, time));
    }

    /// <summary>Same as <see cref="GetCountFor"/>; completes synchronously.</summary>
    public ValueTask<long> GetCountForAsync(
        string id, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(GetCountFor(id));
    }

    /// <summary>
    /// Creates a revision of the state that a document has before the next save, regardless of the revisions configuration.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The id is not valid.</exception>
    public void ForceRevisionCreationFor(string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        DocumentId.Encode(id, _session.Database.Options.MaxIdBytes);
        _session.Defer(new ForcedRevision(id));
    }

    /// <summary>Same as <see cref="ForceRevisionCreationFor(string)"/>, for the document of an entity.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public void ForceRevisionCreationFor(object entity) => ForceRevisionCreationFor(_session.IdOf(entity));

    private static JsonObject Metadata(Revision revision)
    {
        var json = new System.Buffers.ArrayBufferWriter<byte>();
        revision.WriteTo(json, metadataOnly: true);
        return (JsonObject)JsonNode.Parse(
            json.WrittenSpan, documentOptions: new JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth })!
            ["@metadata"]!.DeepClone(); // not null: WriteTo writes this member
    }

    private T Read<T>(Revision revision)
        where T : class
    {
        object read = _session.Saver.Json.Read(_session.TypeOf(typeof(T)), revision.Id, revision.Body.Span);
        return read as T ?? throw new TreepieException(
            $"A revision of document '{revision.Id}' is of type {read.GetType().Name} and cannot be read as {typeof(T).Name}.");
    }

    private void CheckPage(string id, int start, int pageSize)
    {
        ArgumentNullException.ThrowIfNull(id);
        ArgumentOutOfRangeException.ThrowIfNegative(start);
        ArgumentOutOfRangeException.ThrowIfNegative(pageSize);
        _session.RequireOpen();
    }
}
