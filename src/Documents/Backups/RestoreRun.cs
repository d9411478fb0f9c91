using Treepie.Storage;
using Treepie.Storage.Backups;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Restores a logical backup to a directory that is not in use yet, or verifies it without storing anything. What was
/// restored is read again completely and compared with the backup's counts and content hash before it is published.
/// </summary>
internal static class RestoreRun
{
    /// <summary>
    /// Restores to <paramref name="path"/>, a new directory, and leaves the database there closed and durable. The caller
    /// deletes the directory after an error.
    /// </summary>
    public static async Task<BackupReport> RunAsync(
        BackupSource source, string path, RestoreOptions options, long storedBytesTotal, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        DatabaseOptions database = options.Database ?? new DatabaseOptions();
        database.Validate();
        (BackupReport report, List<DumpedIndex> indexes) = await FillAsync(
            source, path, database, options, storedBytesTotal, progress, cancellationToken).ConfigureAwait(false);
        return await CompleteAsync(
            path, database, indexes,
            restored =>
            {
                using DatabaseSnapshot snapshot = restored.BeginRead();
                (BackupCounts counts, string hash) = Hash(
                    snapshot, restored.Id, indexes, report.Hash, report.IsWhole, since: null, report, progress,
                    cancellationToken);
                if (!report.IsWhole)
                    counts = counts with { Collections = report.Counts.Collections };
                return new DumpManifest(report.Counts, report.ContentHash ?? hash).Difference(counts, hash) is { } difference
                    ? throw Otherwise(difference)
                    : report;
            },
            cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Opens what was restored, creates its indexes, and compares it with the backup.</summary>
    public static async Task<BackupReport> CompleteAsync(
        string path, DatabaseOptions database, List<DumpedIndex> indexes, Func<Database, BackupReport> compare,
        CancellationToken cancellationToken)
    {
        Database restored = Database.Open(path, database);
        await using (restored.ConfigureAwait(false))
        {
            indexes.ForEach(index => index.MakeIn(restored));
            DumpedIndex.RequireSettings(indexes, restored);
            return await Task.Run(() => compare(restored), cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Reads what was restored and returns its counts and content hash.</summary>
    public static (BackupCounts Counts, string Hash) Hash(
        DatabaseSnapshot restored, Guid databaseId, List<DumpedIndex> indexes, BackupHashKind kind, bool withCollections,
        DumpSince? since, BackupReport report, IProgress<BackupProgress>? progress, CancellationToken cancellationToken) =>
        SnapshotHash.Compute(
            restored, databaseId, kind, [.. indexes.Select(static index => index.Mapping)], withCollections, since,
            documents => progress?.Report(
                new BackupProgress(
                    BackupStep.Comparing, documents, report.Counts.Documents, report.JsonBytes, report.StoredBytes,
                    report.StoredBytes, null)),
            cancellationToken);

    /// <summary>Returns the error for a restored database that differs from its backup.</summary>
    public static BackupException Otherwise(string difference) => new(
        BackupFault.RestoredOtherwise,
        $"What was restored is not what the backup holds: {difference}. Nothing was kept. Check the disk, and report this.");

    /// <summary>Reads a backup to its end without storing anything.</summary>
    public static Task<BackupReport> VerifyAsync(
        BackupSource source, RestoreOptions options, long storedBytesTotal, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken) =>
        new DumpScan(
            source, new NoSink(), options.Database ?? new DatabaseOptions(), options.SkipInvalidDocuments, storedBytesTotal,
            progress)
        { Accept = DumpScan.RefuseIncrement }.RunAsync(cancellationToken);

    /// <summary>
    /// Opens the documents' store that a restore writes to. It has no journal: nobody uses the store before the restore is
    /// complete, and the checkpoint at its end (<see cref="RestoreSink.CompleteAsync"/>) makes everything durable.
    /// </summary>
    public static StorageEnvironment OpenStore(string path, DatabaseOptions database, RestoreOptions options)
    {
        var storage = new StorageOptions
        {
            Durability = Durability.Relaxed,
            ScratchBudgetBytes = 64 << 20,
            EncryptionKey = database.EncryptionKey
        };
        if (options.MaxDataFileBytes is { } most)
            storage = storage with { MaxDataFileBytes = most };
        return StorageEnvironment.Open(Path.Combine(path, DatabaseFormat.DocumentsFolder), storage);
    }

    /// <summary>Returns the remaining length of a stream in bytes; 0 if unknown.</summary>
    public static long LengthOf(Stream source) => source.CanSeek ? source.Length - source.Position : 0;

    private static async Task<(BackupReport Report, List<DumpedIndex> Indexes)> FillAsync(
        BackupSource source, string path, DatabaseOptions database, RestoreOptions options, long storedBytesTotal,
        IProgress<BackupProgress>? progress, CancellationToken cancellationToken)
    {
        StorageEnvironment environment = OpenStore(path, database, options);
        await using (environment.ConfigureAwait(false))
        {
            var sink = new RestoreSink(environment);
            await using (sink.ConfigureAwait(false))
            {
                source.ReadAhead();
                BackupReport report = await new DumpScan(
                    source, sink, database, options.SkipInvalidDocuments, storedBytesTotal,
                    progress)
                { Accept = DumpScan.RefuseIncrement }.RunAsync(cancellationToken).ConfigureAwait(false);
                await sink.CompleteAsync(cancellationToken).ConfigureAwait(false);
                return (report, sink.Indexes);
            }
        }
    }
}
