using System.Runtime.ExceptionServices;
using Treepie.Indexes.Directories;
using Treepie.Storage;
using Treepie.Storage.Backups;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Restores a snapshot with its increments and log to a directory that is not in use yet, or verifies it without storing
/// anything. Each store is restored separately, encrypted as the new database requires; then the database is opened and its
/// counts are compared before it is published.
/// </summary>
internal sealed class SnapshotRestore(
    IReadOnlyList<BackupChainPart> parts, PartSource source, RestoreOptions options, long storedBytesTotal,
    IProgress<BackupProgress>? progress)
{
    private readonly BackupChainOptions _stop = new()
    {
        StopAtCommit = options.StopAtCommit,
        StopAtTime = options.StopAtTime is { } time ? new DateTimeOffset(DateTime.SpecifyKind(time, DateTimeKind.Utc)) : null,
    };

    private readonly IProgress<BackupPartProgress>? _pages = progress is null
        ? null
        : new PageProgress(progress, BackupStep.Reading, () => source.StoredBytes, storedBytesTotal);

    /// <summary>
    /// Restores to <paramref name="path"/>, a new directory, and leaves the database there closed and durable. The caller
    /// deletes the directory after an error.
    /// </summary>
    public Task<BackupReport> RunAsync(string path, CancellationToken cancellationToken) => TranslateAsync(async () =>
    {
        DatabaseOptions database = options.Database ?? new DatabaseOptions();
        database.Validate();
        using BackupChain chain = await BackupChain.OpenAsync(parts, _stop, cancellationToken).ConfigureAwait(false);
        var description = SnapshotDescription.Read(chain.Newest.Description);
        EncryptionKey? key = database.EncryptionKey;
        EnvironmentRestore? documents = null;
        var indexKeys = new List<EncryptionKey>();
        BackupChainReport read;
        try
        {
            read = await chain.ReadAsync(Target, _pages, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            indexKeys.ForEach(indexKey => indexKey.Dispose());
        }

        if (documents is null)
            throw new BackupException(
                BackupFault.Damaged, "The snapshot contains no documents: it is not a backup of a database. Use another file.");
        PublishIndexes(path, description, key);
        Database restored = Database.Open(path, database);
        await using (restored.ConfigureAwait(false))
        {
            (BackupCounts counts, long lastEtag) = Compare(restored, read, description);
            return Report(read, description, counts) with
            {
                LastEtag = lastEtag,
                CountedAtCommit = read.Commit,
                ContentHash = CompareContent(restored, read, cancellationToken)
            };
        }

        EnvironmentRestore? Target(string name)
        {
            long most = options.MaxDataFileBytes ?? new StorageOptions().MaxDataFileBytes;
            if (name == DatabaseFormat.DocumentsFolder && documents is null)
                return documents = EnvironmentRestore.Create(Path.Combine(path, DatabaseFormat.DocumentsFolder), key, most);
            if (documents is null
                || SnapshotNames.FolderOf(name) is not { } folder
                || !description.Indexes.Any(index => index.Folder == folder))
                return null;

            folder = IndexDirectory.FolderFor(folder, key is not null);
            EncryptionKey? own = key is null ? null : documents.DeriveKey(SealedDefinitions.PurposeOf(folder));
            if (own is not null)
                indexKeys.Add(own);
            return EnvironmentRestore.Create(
                IndexDirectory.StorePathOf(Path.Combine(path, DatabaseFormat.IndexesFolder), folder), own, most);
        }
    });

    /// <summary>Reads the whole chain without storing anything.</summary>
    public Task<BackupReport> VerifyAsync(CancellationToken cancellationToken) => TranslateAsync(async () =>
    {
        if (options.IsLogAlone)
        {
            BackupChainReport log = await BackupChain.ProveLogAsync(parts[0], _pages, cancellationToken).ConfigureAwait(false);
            return new BackupReport
            {
                Kind = BackupKind.Log,
                IsIncremental = true,
                Compression = source.Compression ?? BackupSource.None,
                IsEncrypted = source.IsSealed,
                StoredBytes = source.StoredBytes,
                LastCommit = log.Commit,
                LastCommitAt = log.CommittedAt?.UtcDateTime,
                LogCommits = log.LogCommits,
            };
        }

        using BackupChain chain = await BackupChain.OpenAsync(parts, _stop, cancellationToken).ConfigureAwait(false);
        var description = SnapshotDescription.Read(chain.Newest.Description);
        BackupChainReport read = await chain.ReadAsync(null, _pages, cancellationToken).ConfigureAwait(false);
        SnapshotDescription? end = EndOf(read, description);
        return Report(read, description, end?.Counts ?? description.Counts) with
        {
            LastEtag = end?.LastEtag ?? description.LastEtag,
            CountedAtCommit = end is null ? chain.Newest.Commit : read.Commit,
            ContentHash = read.LogCommits == 0 ? SnapshotManifest.Read(read.Manifest)?.ContentHash : null,
        };
    });

    /// <summary>
    /// Writes the definitions of the indexes, which makes them indexes of the database when it is next opened.
    /// </summary>
    private static void PublishIndexes(string path, SnapshotDescription description, EncryptionKey? key)
    {
        string indexes = Path.Combine(path, DatabaseFormat.IndexesFolder);
        PrivateFiles.CreateDirectory(indexes);
        using StorageEnvironment? documents = key is null
            ? null
            : StorageEnvironment.Open(
                Path.Combine(path, DatabaseFormat.DocumentsFolder), new StorageOptions { EncryptionKey = key });
        // the memory budget has no effect: no index is opened here
        SealedDefinitions? sealedDefinitions = documents is null
            ? null
            : new SealedDefinitions(documents, new StorageOptions().DecryptedBudgetBytes);
        foreach ((string source, byte[] definition) in description.Indexes)
            if (SnapshotNames.FolderOf(SnapshotNames.OfIndex(source)) is not null
                && IndexDirectory.FolderFor(source, key is not null) is var folder
                && Directory.Exists(IndexDirectory.StorePathOf(indexes, folder)))
                IndexDirectory.Publish(indexes, folder, definition, sealedDefinitions);
    }

    /// <summary>
    /// Returns the description of the state at the end of the replay: that of the snapshot, or of the log if a log part was
    /// read to its end; null if the replay stopped within a log part, whose description refers to its end only.
    /// </summary>
    private static SnapshotDescription? EndOf(BackupChainReport read, SnapshotDescription description)
    {
        if (read.LogCommits == 0)
            return description;
        if (read.LogDescription.IsEmpty)
            return null;
        var log = SnapshotDescription.Read(read.LogDescription);
        return log.Commit == read.Commit ? log with { Counts = log.Counts with { Indexes = description.Counts.Indexes } } : null;
    }

    /// <summary>
    /// Returns the counts of the restored database, after comparing them with the description if there is one.
    /// </summary>
    private static (BackupCounts Counts, long LastEtag) Compare(
        Database restored, BackupChainReport read, SnapshotDescription description)
    {
        using DatabaseSnapshot snapshot = restored.BeginRead();
        var counts = new BackupCounts(
            snapshot.DocumentCount, snapshot.TombstoneCount, description.Counts.Indexes, snapshot.Identities().Count,
            snapshot.AllCollections().Count);
        SnapshotDescription? end = EndOf(read, description);
        if (restored.Id != description.DatabaseId
            || (end is not null && (counts != end.Counts || snapshot.LastEtag != end.LastEtag)))
            throw RestoreRun.Otherwise(
                $"it should be {(end ?? description).Counts} up to etag {(end ?? description).LastEtag}, and is {counts} up to "
                    + $"{snapshot.LastEtag}");
        return (counts, snapshot.LastEtag);
    }

    /// <summary>
    /// Returns the content hash of the restored database if the snapshot has one; it must be equal unless commits of the log
    /// were replayed.
    /// </summary>
    private static string? CompareContent(Database restored, BackupChainReport read, CancellationToken cancellationToken)
    {
        if (SnapshotManifest.Read(read.Manifest) is not { } manifest)
            return null;

        using DatabaseSnapshot snapshot = restored.BeginRead();
        string hash =
            SnapshotHash.Compute(
                snapshot, restored.Id, manifest.Hash, restored.Indexes.Definitions(), withCollections: true, since: null, null,
                cancellationToken).Hash;
        return read.LogCommits > 0 || hash == manifest.ContentHash
            ? hash
            : throw RestoreRun.Otherwise($"its content hash should be {manifest.ContentHash}, and is {hash}");
    }

    private BackupReport Report(BackupChainReport read, SnapshotDescription description, BackupCounts counts) => new()
    {
        Kind = BackupKind.Snapshot,
        DatabaseName = description.DatabaseName,
        DatabaseId = description.DatabaseId,
        TakenAt = description.TakenAt,
        LastEtag = description.LastEtag,
        Counts = counts,
        IsWhole = true,
        Compression = source.Compression ?? BackupSource.None,
        IsEncrypted = source.IsSealed,
        StoredBytes = source.StoredBytes,
        LastCommit = read.Commit,
        LastCommitAt = read.CommittedAt?.UtcDateTime,
        LogCommits = read.LogCommits,
        Pages = read.Pages,
    };

    /// <summary>Translates errors of the storage layer to <see cref="BackupException"/>.</summary>
    private static async Task<BackupReport> TranslateAsync(Func<Task<BackupReport>> work)
    {
        try
        {
            return await work().ConfigureAwait(false);
        }
        catch (Exception error) when (error is BackupPartException or InvalidDataException)
        {
            if (BackupException.From(error) is { } translated)
                throw translated;
            ExceptionDispatchInfo.Throw(error);
            throw;
        }
    }
}
