using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>
/// Stores many objects in durable batches, as sessions would write them, without following them. One caller at a time.
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

    /// <summary>What is durable by now. May be read from any thread.</summary>
    public BulkInsertProgress Progress => _insert.Progress;

    /// <summary>
    /// Adds an object; gives its id: its own, or the next. Waits only when a batch is full and the one before is not yet durable.
    /// </summary>
    /// <exception cref="InvalidDocumentException">This object is no valid document; it is left out, and the insert may go
    /// on.</exception>
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

    /// <summary>Makes the rest durable and ends the insert.</summary>
    public Task<BulkInsertProgress> CompleteAsync(CancellationToken cancellationToken = default) =>
        _insert.CompleteAsync(cancellationToken);

    /// <summary>Ends the insert without what is not yet on its way.</summary>
    public Task AbortAsync() => _insert.AbortAsync();

    /// <summary>Completes the insert unless it has failed or was completed.</summary>
    public ValueTask DisposeAsync() => _insert.DisposeAsync();
}
