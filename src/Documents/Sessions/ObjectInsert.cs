using System.Text.Json.Nodes;
using Treepie.Kinds;
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
    public ValueTask<string> StoreAsync(object entity, string? id = null, CancellationToken cancellationToken = default) =>
        StoreAsync(entity, id, null, cancellationToken);

    /// <summary>
    /// Same as <see cref="StoreAsync(object, string?, CancellationToken)"/>, with metadata such as <c>@expires</c>; a
    /// <c>@collection</c> in it takes the place of the type's.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The entity or its metadata is not valid; it is skipped, and the insert can
    /// continue.</exception>
    public async ValueTask<string> StoreAsync(
        object entity, string? id, JsonObject? metadata, CancellationToken cancellationToken = default)
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
        var tracked = new TrackedEntity(entity, type, own) { Metadata = metadata };
        byte[] json = _json.Join(_json.Write(type, own, entity), tracked).ToArray();
        type.Id?.Set(entity, own);
        await _insert.StoreAsync(own, json, cancellationToken).ConfigureAwait(false);
        return own;
    }

    /// <inheritdoc cref="BulkInsert.CountersAsync"/>
    public ValueTask CountersAsync(
        string id, IReadOnlyList<CounterOperation> operations, CancellationToken cancellationToken = default) =>
        _insert.CountersAsync(id, operations, cancellationToken);

    /// <inheritdoc cref="BulkInsert.TimeSeriesAsync"/>
    public ValueTask TimeSeriesAsync(
        string id, string name, IReadOnlyList<TimeSeriesPoint> points, CancellationToken cancellationToken = default) =>
        _insert.TimeSeriesAsync(id, name, points, cancellationToken);

    /// <summary>Adds an attachment of a document, which may have been stored earlier in the insert.</summary>
    /// <param name="id">The id of the document.</param>
    /// <param name="name">The name of the attachment.</param>
    /// <param name="content">The content, which is read to its end before the method completes.</param>
    /// <param name="contentType">The type of the content, such as <c>image/png</c>.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="InvalidDocumentException">The id, name or content type is not valid; the insert can continue.</exception>
    /// <exception cref="TreepieException">An earlier batch could not be committed; the insert has ended.</exception>
    public async ValueTask AttachmentAsync(
        string id, string name, Stream content, string? contentType = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(content);
        await using AttachmentUpload upload = await SessionUpload.ReadAsync(_database, content, cancellationToken)
            .ConfigureAwait(false);
        await _insert.AttachmentAsync(id, name, contentType, upload, cancellationToken).ConfigureAwait(false);
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
