using System.Text;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>Saves a session: detects changes, writes them as one batch, and applies the results to the entities.</summary>
internal sealed class SessionSaver(ISessionHost database, SessionOptions options)
{
    private readonly EntityJson _json = new(database.Options);

    public EntityJson Json => _json;

    /// <summary>Returns the new body of an entity; null if it has not changed.</summary>
    public byte[]? Changed(TrackedEntity tracked)
    {
        if (tracked.Document is not { } document || tracked.HasChangedMetadata)
            return _json.Write(tracked.Type, tracked.Id, tracked.Entity);
        byte[]? body = _json.WriteUnless(
            tracked.Type, tracked.Id, tracked.Entity, document.Body, tracked.BodyAsWritten);

        // The document was written by another program, in another order, with another spelling or more fields: compare with what
        // this type makes of it.
        return body is null || body.AsSpan().SequenceEqual(Before(tracked, document)) ? null : body;
    }

    /// <summary>Returns the loaded document in the form in which this program's type would have serialized it.</summary>
    public byte[] Before(TrackedEntity tracked, DocumentCopy document) =>
        tracked.BodyAsWritten ??= _json.Write(tracked.Type, tracked.Id, _json.Read(tracked.Type, tracked.Id, document.Body));

    /// <summary>Writes all changes in one batch; returns null if there are none.</summary>
    /// <param name="entities">The entities of the session.</param>
    /// <param name="reads">What else was read and is verified; null if nothing is verified.</param>
    /// <param name="deletions">The ids of documents to delete that were not loaded, with the expected change vectors.</param>
    /// <param name="commands">The commands to execute after the documents.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    public async Task<SaveOutcome?> SaveAsync(
        IReadOnlyCollection<TrackedEntity> entities,
        SessionReads? reads,
        IReadOnlyDictionary<string, string?>? deletions,
        IReadOnlyList<SessionCommand>? commands,
        CancellationToken cancellationToken)
    {
        commands ??= [];
        List<TrackedEntity> deleted = [.. entities.Where(entity => entity.IsDeleted)];
        var puts = new List<(TrackedEntity Entity, byte[] Whole, byte[] AsWritten)>();
        foreach (TrackedEntity entity in entities)
            if (!entity.IsDeleted && Changed(entity) is { } body)
                puts.Add((entity, Whole(entity, body), body));
        if (deleted.Count + puts.Count + commands.Count + (deletions?.Count ?? 0) == 0)
            return null; // what was only read need not be verified

        using var batch = new WriteBatch(database.Options) { IsClusterWide = options.IsClusterWide };
        if (reads is not null)
            Require(batch, entities, reads);
        if (deletions is not null)
            foreach ((string id, string? changeVector) in deletions)
                batch.Delete(id, changeVector);
        foreach (TrackedEntity entity in deleted)
            batch.Delete(
                entity.Id, entity.ExpectedChangeVector ?? Checked(entity.ChangeVector),
                entity.Document?.GuardedChangeVector);
        int putStart = batch.Count;
        var forced = new HashSet<string>(
            commands.OfType<ForcedRevision>().Select(static command => command.DocumentId), IdComparer.Instance);
        foreach ((TrackedEntity entity, byte[] whole, _) in puts)
        {
            string? expected = entity.ExpectedChangeVector ?? Checked(entity.ChangeVector ?? "");
            batch.Put(
                entity.Id, _json.Join(whole, entity), entity.HasOpenId ? null : expected, entity.Document?.GuardedChangeVector,
                forceRevision: forced.Remove(entity.Id));
        }

        int commandStart = batch.Count;
        foreach (SessionCommand command in commands.Where(
            command => command is not ForcedRevision revision || forced.Contains(revision.DocumentId)))
            await command.AddToAsync(batch, database, cancellationToken).ConfigureAwait(false);
        IReadOnlyList<WriteResult> results = await database.WriteAsync(batch, cancellationToken).ConfigureAwait(false);
        for (int index = 0; index < puts.Count; index++)
            Saved(puts[index].Entity, puts[index].Whole, puts[index].AsWritten, results[putStart + index]);
        foreach (SessionCommand command in commands)
            await command.DisposeAsync().ConfigureAwait(false);
        return new SaveOutcome(deleted, [.. puts.Select(put => put.Entity)], [.. results.Skip(commandStart)]);
    }

    private static void Require(WriteBatch batch, IReadOnlyCollection<TrackedEntity> entities, SessionReads reads)
    {
        reads.Require(batch);
        foreach (TrackedEntity entity in entities)
            if (entity.ChangeVector is { } changeVector)
                batch.Require(entity.Id, entity.ExpectedChangeVector ?? changeVector);
    }

    private string? Checked(string? changeVector) =>
        options.UseOptimisticConcurrency || options.ChecksLoads ? changeVector : null;

    /// <summary>Returns the new document of an entity, including members of the loaded document unknown to its type.</summary>
    private byte[] Whole(TrackedEntity tracked, byte[] body)
    {
        if (tracked.Document is not { } document || !options.PreserveUnknownProperties)
            return body;

        byte[] before = Before(tracked, document);
        return before.AsSpan().SequenceEqual(document.Body)
            ? body
            : new BodyMerge(options.Json.PropertyNameCaseInsensitive).Merge(document.Body, before, body);
    }

    private void Saved(TrackedEntity tracked, byte[] whole, byte[] asWritten, WriteResult result)
    {
        if (tracked.HasOpenId)
        {
            tracked.Id = result.Id;
            tracked.Type.Id?.Set(tracked.Entity, result.Id);
        }

        // In a cluster-wide batch, the result contains the guard's index after the change vector.
        string changeVector = result.ChangeVector ?? "";
        var saved = new DocumentCopy(changeVector.Split(',')[0])
        {
            GuardedChangeVector = options.IsClusterWide ? changeVector : null,
            Collection = result.Collection ?? tracked.Collection,
            LastModified = result.LastModified,
            Body = whole,
        };
        if (tracked.Metadata is { } metadata)
            saved = saved with { Metadata = Encoding.UTF8.GetBytes(metadata.ToJsonString()) };
        else if (tracked.Document is { } before)
            saved = saved with { Metadata = before.Metadata };
        tracked.Saved(saved, asWritten);
    }
}
