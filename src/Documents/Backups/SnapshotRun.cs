using System.Text;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Directories;
using Treepie.Storage;
using Treepie.Storage.Backups;
using Treepie.Storage.Transactions;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Writes the pages of a snapshot of a database, or those written since another one, or the log. Index snapshots are taken
/// just before that of the documents, so that no index contains changes that the documents do not have. Writers continue
/// meanwhile.
/// </summary>
internal sealed class SnapshotRun(Database database, BackupOptions options, IProgress<BackupProgress>? progress)
{
    /// <summary>Writes a full snapshot or an increment.</summary>
    public async Task<BackupReport> WritePagesAsync(BackupTarget target, CancellationToken cancellationToken)
    {
        IReadOnlyList<HeldIndex> indexes = database.Indexes.Hold();
        IReadOnlyList<IndexMapping>? definitions = database.Indexes.Definitions();
        if (definitions.Count != indexes.Count)
            definitions = null; // an index was created or deleted in between: the definitions of the held indexes are unknown
        var snapshots = new List<EnvironmentSnapshot>();
        try
        {
            foreach (HeldIndex index in indexes)
                snapshots.Add(EnvironmentSnapshot.Begin(index.Index.Store));
            using var documents = EnvironmentSnapshot.Begin(database.Environment);
            if (definitions is not null && !AreOf(documents.Read, indexes, definitions))
                definitions = null; // a definition was changed in between
            SnapshotDescription description = Describe(documents.Read, indexes);
            BackupLink? since = CheckSince(documents.StoreId);
            long mainSince = since?.Stores[0].Commit ?? -1;
            var header = new BackupPartHeader
            {
                Kind = since is null ? BackupPartKind.Snapshot : BackupPartKind.Increment,
                StoreId = documents.StoreId,
                PreviousHash = since?.Hash ?? "",
                TakenAt = new DateTimeOffset(description.TakenAt, TimeSpan.Zero),
                Commit = documents.Commit,
                CommittedAt = documents.CommittedAt,
                Since = mainSince,
                Description = description.Write(),
            };
            using var writer = new BackupPartWriter(target.Json, header);
            var stores = new List<StoreLink> { new(DatabaseFormat.DocumentsFolder, documents.StoreId, documents.Commit) };
            IProgress<BackupPartProgress>? pages = progress is null
                ? null
                : new PageProgress(progress, BackupStep.Writing, () => target.StoredBytes);
            long written = await documents.WriteAsync(writer, DatabaseFormat.DocumentsFolder, mainSince, pages, cancellationToken)
                .ConfigureAwait(false);
            int damaged = 0;
            for (int i = 0; i < indexes.Count; i++)
            {
                string name = SnapshotNames.OfIndex(indexes[i].Folder);
                EnvironmentSnapshot index = snapshots[i];
                long indexSince = since?.Stores.FirstOrDefault(
                    store => store.Name == name && store.StoreId == index.StoreId)?.Commit ?? -1;
                try
                {
                    written += await index.WriteAsync(writer, name, indexSince, pages, cancellationToken).ConfigureAwait(false);
                    stores.Add(new StoreLink(name, index.StoreId, index.Commit));
                }
                catch (CorruptionException)
                {
                    // an index can be rebuilt; it must not prevent the backup of the documents
                    await index.GiveUpAsync(writer, cancellationToken).ConfigureAwait(false);
                    damaged++;
                }

                index.Dispose();
            }

            string? content = damaged == 0 && options.HashesContent
                ? HashContent(documents, definitions, cancellationToken)
                : null;
            if (content is not null)
                await writer.WriteManifestAsync(new SnapshotManifest(content).Write(), cancellationToken).ConfigureAwait(false);
            string hash = await writer.CompleteAsync(cancellationToken).ConfigureAwait(false);
            await target.CompleteAsync(cancellationToken).ConfigureAwait(false);
            return Report(target, writer, description, documents.Commit, documents.CommittedAt) with
            {
                ContentHash = content,
                Kind = BackupKind.Snapshot,
                IsIncremental = since is not null,
                IsWhole = since is null,
                Link = new BackupLink(hash, LogCommit(since, documents.Commit), stores),
                Pages = written,
                Skipped = damaged == 0
                    ? new Dictionary<string, long>()
                    : new Dictionary<string, long> { ["DamagedIndexes"] = damaged },
            };
        }
        finally
        {
            snapshots.ForEach(snapshot => snapshot.Dispose());
            foreach (HeldIndex index in indexes)
                index.Index.Release();
        }
    }

    /// <summary>Writes the commits since another backup.</summary>
    public async Task<BackupReport> WriteLogAsync(BackupTarget target, CancellationToken cancellationToken)
    {
        BackupLink since = CheckSince(database.Environment.StoreId)
            ?? throw new BackupException(
                BackupFault.LinkMissing,
                "A backup of the log continues another backup, and none was given. Set Since to the Link in the report of that "
                    + "backup; the first of a chain is a snapshot.");
        using EnvironmentLogStretch stretch = BeginLog(since.LogCommit);
        SnapshotDescription description = Describe(stretch.Read, []) with { Commit = stretch.Commit };
        stretch.Read.Dispose();
        var header = new BackupPartHeader
        {
            Kind = BackupPartKind.Log,
            StoreId = database.Environment.StoreId,
            TakenAt = new DateTimeOffset(description.TakenAt, TimeSpan.Zero),
            Commit = stretch.Commit,
            CommittedAt = stretch.CommittedAt,
            Since = since.LogCommit,
            Description = description.Write(),
        };
        using var writer = new BackupPartWriter(target.Json, header);
        long commits = await stretch.WriteAsync(
            writer, progress is null ? null : new PageProgress(progress, BackupStep.Writing, () => target.StoredBytes),
            cancellationToken).ConfigureAwait(false);
        await writer.CompleteAsync(cancellationToken).ConfigureAwait(false);
        await target.CompleteAsync(cancellationToken).ConfigureAwait(false);
        return Report(target, writer, description, stretch.Commit, stretch.CommittedAt) with
        {
            Kind = BackupKind.Log,
            IsIncremental = true,
            Counts = new BackupCounts(0, 0, 0, 0, 0),
            Link = new BackupLink(since.Hash, stretch.Commit, since.Stores),
            LogCommits = commits,
        };
    }

    /// <summary>
    /// Begins to read the log after a commit. Unless the backup belongs to a task, this records the commit as the position of
    /// the log reader.
    /// </summary>
    private EnvironmentLogStretch BeginLog(long after)
    {
        try
        {
            EnvironmentLogStretch stretch = EnvironmentLogStretch.Begin(database.Environment, after);
            if (!options.IsOfTask)
                database.Log.Reached(options.LogReader, after);
            return stretch;
        }
        catch (BackupPartException error) when (error.Fault == BackupPartFault.LogGap)
        {
            database.Log.Forget(options.LogReader);
            throw;
        }
    }

    private DateTime Now => database.Options.TimeProvider.GetUtcNow().UtcDateTime;

    private SnapshotDescription Describe(ReadTransaction read, IReadOnlyList<HeldIndex> indexes)
    {
        using DatabaseSnapshot snapshot = database.ReadOf(read);
        var counts = new BackupCounts(
            snapshot.DocumentCount, snapshot.TombstoneCount, indexes.Count, snapshot.Identities().Count,
            snapshot.AllCollections().Count);
        return new SnapshotDescription(
            database.Name, database.Id, snapshot.LastEtag, Now, counts,
            [.. indexes.Select(index => (index.Folder, index.Definition))]);
    }

    /// <summary>
    /// Returns whether the definitions match the held indexes and, for user-defined ones, the snapshot of the documents.
    /// </summary>
    private static bool AreOf(
        ReadTransaction documents, IReadOnlyList<HeldIndex> indexes, IReadOnlyList<IndexMapping> definitions)
    {
        var made = new HashSet<string>(
            indexes.Where(static held => held.Index.Definition is not StaticIndexMapping)
                .Select(static held => Encoding.UTF8.GetString(held.Definition)),
            StringComparer.Ordinal);
        var byHand = new HashSet<string>(
            StaticDefinitions.ReadAll(documents).Select(Encoding.UTF8.GetString), StringComparer.Ordinal);
        return made.SetEquals(
                definitions.Where(static mapping => mapping is not StaticIndexMapping)
                    .Select(static mapping => Encoding.UTF8.GetString(DefinitionJson.Write(mapping))))
            && byHand.SetEquals(
                definitions.OfType<StaticIndexMapping>()
                    .Select(static mapping => Encoding.UTF8.GetString(IndexDefinitionJson.Write(mapping.Definition))));
    }

    private string? HashContent(
        EnvironmentSnapshot documents, IReadOnlyList<IndexMapping>? definitions, CancellationToken cancellationToken)
    {
        if (definitions is null)
            return null;
        using DatabaseSnapshot snapshot = database.ReadOf(documents.Read);
        var pace = BackupPace.Of(database, options.PercentWhileWriting);
        return SnapshotHash.Compute(
            snapshot, database.Id, BackupHashKind.Blake3, definitions, withCollections: true, since: null,
            _ => pace?.GiveWay(cancellationToken), cancellationToken).Hash;
    }

    private BackupLink? CheckSince(Guid storeId)
    {
        if (options.Since is { Dump: not null })
            throw new BackupException(
                BackupFault.Foreign,
                "The backup to continue is a logical one, and snapshots and logs continue snapshots only. Begin with a full "
                    + "snapshot.");
        if (options.Since is { } since && since.Stores[0].StoreId != storeId)
            throw new BackupException(
                BackupFault.Foreign,
                $"The backup to continue is of another database than '{database.Name}', or was taken before this database was "
                    + "restored. Begin with a full snapshot.");
        return options.Since;
    }

    /// <summary>
    /// Returns the commit from which the next log backup continues: the previous one, unless the commits after it are no
    /// longer kept; this snapshot contains them.
    /// </summary>
    private long LogCommit(BackupLink? since, long commit) =>
        since is not null && database.Log.HoldsAfter(since.LogCommit) ? since.LogCommit : commit;

    private static BackupReport Report(
        BackupTarget target, BackupPartWriter writer, SnapshotDescription description, long commit, DateTimeOffset? at) => new()
        {
            DatabaseName = description.DatabaseName,
            DatabaseId = description.DatabaseId,
            TakenAt = description.TakenAt,
            LastEtag = description.LastEtag,
            Counts = description.Counts,
            TotalDocuments = description.Counts.Documents,
            Compression = target.Compression,
            IsEncrypted = target.IsSealed,
            JsonBytes = writer.Bytes,
            StoredBytes = target.StoredBytes,
            LastCommit = commit,
            LastCommitAt = at?.UtcDateTime,
        };
}
