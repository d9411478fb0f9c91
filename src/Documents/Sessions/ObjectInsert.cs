using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>
/// Bulk insert of entities: stores them in durable batches, in the form a session would, without tracking them. Not thread-safe.
/// </summary>
public sealed class ObjectInsert : IAsyncDisposable
{
    private readonly ISessionHost _database;
    private readonly EntityTypes _types;
    private readonly EntityJson _json;
    private readonly BulkInsert _insert;

    internal ObjectInsert(ISessionHost database, SessionOptions session, BulkInsertOptions options)
    {
        (_database, _types) = (database, database.EntityTypesOf(session));
        _json = new EntityJson(database.Options);
        _insert = new BulkInsert(database, options);
    }

    /// <summary>The progress of what is durable so far. May be read from any thread.</summary>
    public BulkInsertProgress Progress => _insert.Progress;

    /// <summary>
    /// Adds an entity and returns its id, which is generated if it has none. Waits only if a batch is full and the previous one
    /// is not durable yet.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The entity is not a valid document; it is skipped, and the insert can
    /// continue.</exception>
    public async ValueTask<string> StoreAsync(object entity, string? id = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(entity);
        EntityType type = _types.Of(entity.GetType());
        string own = !string.IsNullOrEmpty(id)
            ? id
            : type.Id?.Get(entity) ?? type.Id?.Next(_database.HiLoIds, type.Tag) ?? _database.HiLoIds.Next(type.Tag);
        if (own.EndsWith('/') || own.EndsWith('|'))
            throw new InvalidDocumentException(
                $"The id '{own}' is to be completed by a save, which bulk inserts do not wait for. Nothing was stored. Give the "
                    + $"whole id, or none.");
        DocumentId.Encode(own, _database.Options.MaxIdBytes);
        var tracked = new TrackedEntity(entity, type, own);
        byte[] json = _json.Join(_json.Write(type, own, entity), tracked).ToArray();
        type.Id?.Set(entity, own);
        await _insert.StoreAsync(own, json, cancellationToken).ConfigureAwait(false);
        return own;
    }

    /// <summary>Completes when everything stored so far is durable.</summary>
    public Task FlushAsync(CancellationToken cancellationToken = default) => _insert.FlushAsync(cancellationToken);

    /// <summary>Makes the remaining entities durable and ends the insert.</summary>
    public Task<BulkInsertProgress> CompleteAsync(CancellationToken cancellationToken = default) =>
        _insert.CompleteAsync(cancellationToken);

    /// <summary>Ends the insert and discards what has not been submitted yet.</summary>
    public Task AbortAsync() => _insert.AbortAsync();

    /// <summary>Completes the insert, unless it has failed or been completed already.</summary>
    public ValueTask DisposeAsync() => _insert.DisposeAsync();
}
