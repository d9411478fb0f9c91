using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>
/// States that documents had. They are read as objects that the session does not follow: a state of the past cannot be saved.
/// </summary>
public sealed class SessionRevisions
{
    private readonly DocumentSession _session;

    internal SessionRevisions(DocumentSession session) => _session = session;

    /// <summary>States of a document, the newest first; deletions are passed over.</summary>
    /// <exception cref="TreepieException">A state does not fit the type.</exception>
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

    /// <summary>As <see cref="GetFor"/>: reads complete at once.</summary>
    public ValueTask<IReadOnlyList<T>> GetForAsync<T>(
        string id, int start = 0, int pageSize = 25, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(GetFor<T>(id, start, pageSize));
    }

    /// <summary>The metadata of states of a document, deletions among them, the newest first.</summary>
    public IReadOnlyList<JsonObject> GetMetadataFor(string id, int start = 0, int pageSize = 25)
    {
        CheckPage(id, start, pageSize);
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return [.. snapshot.Revisions(id, metadataOnly: true).Skip(start).Take(pageSize).Select(Metadata)];
    }

    /// <summary>The state of a change vector; null where there is none, or it is a deletion.</summary>
    /// <exception cref="TreepieException">The state does not fit the type.</exception>
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
    /// The state a document had at a time (UTC unless it is a local one); null where it did not exist then, or no such state was
    /// kept.
    /// </summary>
    /// <exception cref="TreepieException">The state does not fit the type.</exception>
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

    /// <summary>How many states of a document are kept, deletions among them.</summary>
    public long GetCountFor(string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return snapshot.RevisionCount(id);
    }

    /// <summary>Keeps the state that a document has before the next save, whatever is configured.</summary>
    /// <exception cref="InvalidDocumentException">The id cannot be one.</exception>
    public void ForceRevisionCreationFor(string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        DocumentId.Encode(id, _session.Database.Options.MaxIdBytes);
        _session.Defer(new ForcedRevision(id));
    }

    /// <summary>As <see cref="ForceRevisionCreationFor(string)"/>, of an object's document.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public void ForceRevisionCreationFor(object entity) => ForceRevisionCreationFor(_session.IdOf(entity));

    private static JsonObject Metadata(Revision revision)
    {
        var json = new System.Buffers.ArrayBufferWriter<byte>();
        revision.WriteTo(json, metadataOnly: true);
        return (JsonObject)JsonNode.Parse(
            json.WrittenSpan, documentOptions: new JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth })!
            ["@metadata"]!.DeepClone(); // WriteTo writes an object with this member
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
