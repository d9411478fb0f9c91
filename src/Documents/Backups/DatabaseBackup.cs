using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>What <see cref="Database"/> offers of backups, behind its door: opens and closes what they need, and leaves nothing half done.</summary>
internal static class DatabaseBackup
{
    private const int FileBufferBytes = 128 * 1024;

    public static async Task<BackupReport> WriteAsync(
        Database database, Stream destination, BackupOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken)
    {
        if (database.IsEncrypted && options is { EncryptionKey: null, AllowPlain: false })
        {
            throw new BackupException(
                BackupFault.PlainNotAllowed,
                $"The database '{database.Name}' is encrypted, and its backup would be plain: everybody who has the file could read it. Give a key for the backup, or say that it may be plain (AllowPlain).");
        }

        var target = new BackupTarget(destination, options.Compression, options.EncryptionKey);
        await using (target.ConfigureAwait(false))
        {
            using DatabaseSnapshot snapshot = database.BeginRead();
            bool isWhole = options is { Content: BackupContent.All, Collections: null or { Count: 0 } };
            var header = new DumpHeader(database.Name, database.Id, snapshot.LastEtag, database.Options.TimeProvider.GetUtcNow().UtcDateTime, isWhole);
            var run = new BackupRun(snapshot, header, database.Indexes.Definitions(), options);
            // Documents are read and compressed as fast as the destination takes them: not on the thread of who only wants to wait.
            return await Task.Run(() => run.RunAsync(target, progress, cancellationToken), cancellationToken).ConfigureAwait(false);
        }
    }

    public static async Task<BackupReport> WriteFileAsync(
        Database database, string path, BackupOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken)
    {
        string unfinished = $"{path}.{Environment.ProcessId}.unfinished";
        try
        {
            BackupReport report;
            var file = new FileStream(unfinished, FileMode.CreateNew, FileAccess.Write, FileShare.None, 1, FileOptions.Asynchronous);
            await using (file.ConfigureAwait(false))
            {
                report = await WriteAsync(database, file, options, progress, cancellationToken).ConfigureAwait(false);
                file.Flush(flushToDisk: true);
            }

            File.Move(unfinished, path, overwrite: true);
            StorageEnvironment.SyncDirectory(Path.GetDirectoryName(Path.GetFullPath(path))!); // a file has a directory
            return report;
        }
        catch
        {
            File.Delete(unfinished);
            throw;
        }
    }

    public static async Task<BackupReport> RestoreAsync(
        Stream source, string directory, RestoreOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken)
    {
        string target = Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory));
        long total = RestoreRun.LengthOf(source);
        using RestorePlace place = RestorePlace.Begin(target);
        BackupSource backup = await BackupSource.OpenAsync(source, options.BackupKey, options.OwnKey, cancellationToken).ConfigureAwait(false);
        await using (backup.ConfigureAwait(false))
        {
            BackupReport report = await Task.Run(() => RestoreRun.RunAsync(backup, place.Path, options, total, progress, cancellationToken), cancellationToken).ConfigureAwait(false);
            cancellationToken.ThrowIfCancellationRequested();
            place.Publish();
            return report;
        }
    }

    /// <summary>Restores to a directory of the caller's own, which is absent; after an error it is so again.</summary>
    public static async Task<BackupReport> RestoreToAsync(
        Stream source, string path, RestoreOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken)
    {
        long total = RestoreRun.LengthOf(source);
        BackupSource backup = await BackupSource.OpenAsync(source, options.BackupKey, options.OwnKey, cancellationToken).ConfigureAwait(false);
        await using (backup.ConfigureAwait(false))
        {
            try
            {
                return await Task.Run(() => RestoreRun.RunAsync(backup, path, options, total, progress, cancellationToken), cancellationToken).ConfigureAwait(false);
            }
            catch
            {
                if (Directory.Exists(path))
                    Directory.Delete(path, recursive: true);
                throw;
            }
        }
    }

    public static async Task<BackupReport> VerifyAsync(Stream source, RestoreOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken)
    {
        long total = RestoreRun.LengthOf(source);
        BackupSource backup = await BackupSource.OpenAsync(source, options.BackupKey, options.OwnKey, cancellationToken).ConfigureAwait(false);
        await using (backup.ConfigureAwait(false))
            return await Task.Run(() => RestoreRun.VerifyAsync(backup, options, total, progress, cancellationToken), cancellationToken).ConfigureAwait(false);
    }

    public static Task<BackupReport> RestoreAsync(
        IReadOnlyList<BackupPart> parts, string directory, RestoreOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken) => throw new NotSupportedException();

    public static Task<BackupReport> VerifyAsync(IReadOnlyList<BackupPart> parts, RestoreOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken) => throw new NotSupportedException();

    public static Task KeepLogAsync(StorageEnvironment environment, long budgetBytes, CancellationToken cancellationToken) => throw new NotSupportedException();

    public static LogStatus LogStatusOf(StorageEnvironment environment) => new(false, 0, 0, 0);

    public static async Task<BackupReport> ImportAsync(
        Database database, Stream source, ImportOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken)
    {
        long total = RestoreRun.LengthOf(source);
        BackupSource backup = await BackupSource.OpenAsync(source, options.BackupKey, options.OwnKey, cancellationToken).ConfigureAwait(false);
        await using (backup.ConfigureAwait(false))
        {
            Writes.BulkInsert insert = database.BulkInsert();
            try
            {
                var scan = new DumpScan(backup, new ImportSink(database, insert, options), database.Options, options.SkipInvalidDocuments, total, progress);
                BackupReport report = await Task.Run(() => scan.RunAsync(cancellationToken), cancellationToken).ConfigureAwait(false);
                await insert.CompleteAsync(cancellationToken).ConfigureAwait(false);
                return report;
            }
            catch
            {
                await insert.AbortAsync().ConfigureAwait(false);
                throw;
            }
        }
    }
}
