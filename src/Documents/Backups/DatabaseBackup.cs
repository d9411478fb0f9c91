using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Implements the backup methods of <see cref="Database"/>: opens and closes the streams, and leaves no partial results
/// behind.
/// </summary>
internal static class DatabaseBackup
{
    public static async Task<BackupReport> WriteAsync(
        Database database, Stream destination, BackupOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        if (database.IsEncrypted && options is { EncryptionKey: null, AllowPlain: false })
        {
            throw new BackupException(
                BackupFault.PlainNotAllowed,
                $"The database '{database.Name}' is encrypted, and its backup would be plain: everybody who has the file could "
                    + $"read it. Give a key for the backup, or say that it may be plain (AllowPlain).");
        }

        if (options.Since is not null && !options.HoldsAll)
            throw new ArgumentException(
                "An increment goes on from a backup of the whole database, and holds all that changed: nothing can be left out "
                    + "of it or transformed.",
                nameof(options));

        var target = new BackupTarget(
            destination, options.Compression, options.EncryptionKey, BackupPace.Of(database, options.PercentWhileWriting));
        await using (target.ConfigureAwait(false))
        {
            // Documents are read and compressed as fast as the destination accepts them, so this runs neither on the caller's
            // thread nor on one of the thread pool.
            return await WorkThread.RunAsync(() => WriteAsync(database, target, options, progress, cancellationToken))
                .ConfigureAwait(false);
        }
    }

    public static async Task<BackupReport> WriteFileAsync(
        Database database, string path, BackupOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        DurableFile.RemoveAbandoned(path);
        return await DurableFile.WriteAsync(path, file => WriteAsync(database, file, options, progress, cancellationToken))
            .ConfigureAwait(false);
    }

    public static async Task<BackupReport> RestoreAsync(
        Stream source, string directory, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        options = options with { IsRestore = true };
        string target = Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory));
        long total = RestoreRun.LengthOf(source);
        using RestorePlace place = RestorePlace.Begin(target);
        BackupSource backup = await BackupSource.OpenAsync(source, options, cancellationToken).ConfigureAwait(false);
        await using (backup.ConfigureAwait(false))
        {
            BackupReport report = await Task.Run(
                () => RestoreAsync(backup, place.Path, options, total, progress, cancellationToken),
                cancellationToken).ConfigureAwait(false);
            cancellationToken.ThrowIfCancellationRequested();
            place.Publish();
            return report;
        }
    }

    /// <summary>
    /// Restores to a directory that does not exist yet and belongs to the caller; deletes it after an error.
    /// </summary>
    public static async Task<BackupReport> RestoreToAsync(
        Stream source, string path, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        options = options with { IsRestore = true };
        long total = RestoreRun.LengthOf(source);
        BackupSource backup = await BackupSource.OpenAsync(source, options, cancellationToken).ConfigureAwait(false);
        await using (backup.ConfigureAwait(false))
        {
            try
            {
                return await Task.Run(
                    () => RestoreAsync(backup, path, options, total, progress, cancellationToken),
                    cancellationToken).ConfigureAwait(false);
            }
            catch
            {
                if (Directory.Exists(path))
                    Directory.Delete(path, recursive: true);
                throw;
            }
        }
    }

    public static Task<BackupReport> VerifyAsync(
        Stream source, RestoreOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken) =>
        WorkThread.RunAsync(
            () => VerifyAsync(
                source, RestoreRun.LengthOf(source), options with { IsOnThread = true }, progress, cancellationToken));

    /// <summary>Restores a chain.</summary>
    public static async Task<BackupReport> RestoreAsync(
        IReadOnlyList<BackupPart> parts, string directory, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        if (parts.Count == 1)
            return await WithOnlyAsync(
                parts, stream => RestoreAsync(stream, directory, options, progress, cancellationToken),
                cancellationToken).ConfigureAwait(false);

        options = options with { IsRestore = true };
        string target = Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory));
        using RestorePlace place = RestorePlace.Begin(target);
        BackupReport report = await Task.Run(
            () => RestoreChainAsync(parts, place.Path, options, progress, cancellationToken),
            cancellationToken).ConfigureAwait(false);
        cancellationToken.ThrowIfCancellationRequested();
        place.Publish();
        return report;
    }

    /// <summary>
    /// Restores a chain to a directory that does not exist yet and belongs to the caller; deletes it after an error.
    /// </summary>
    public static async Task<BackupReport> RestoreToAsync(
        IReadOnlyList<BackupPart> parts, string path, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        if (parts.Count == 1)
            return await WithOnlyAsync(
                parts, stream => RestoreToAsync(stream, path, options, progress, cancellationToken),
                cancellationToken).ConfigureAwait(false);

        options = options with { IsRestore = true };
        try
        {
            return await Task.Run(() => RestoreChainAsync(parts, path, options, progress, cancellationToken), cancellationToken)
                .ConfigureAwait(false);
        }
        catch
        {
            if (Directory.Exists(path))
                Directory.Delete(path, recursive: true);
            throw;
        }
    }

    public static Task<BackupReport> VerifyAsync(
        IReadOnlyList<BackupPart> parts, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken) =>
        parts.Count == 1
            ? WithOnlyAsync(parts, stream => VerifyAsync(stream, options, progress, cancellationToken), cancellationToken)
            : WorkThread.RunAsync(() => VerifyChainAsync(parts, options with { IsOnThread = true }, progress, cancellationToken));

    public static async Task<BackupReport> ImportAsync(
        Database database, Stream source, ImportOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        long total = RestoreRun.LengthOf(source);
        BackupSource backup = await BackupSource.OpenAsync(source, options.BackupKey, options.OwnKey, cancellationToken)
            .ConfigureAwait(false);
        await using (backup.ConfigureAwait(false))
        {
            if (backup.IsPart)
                throw new BackupException(
                    BackupFault.NotABackup,
                    "This is a snapshot, or a part of one: pages, which are restored to a database of their own and cannot be "
                        + "brought into one that is there. Restore it, or import a logical backup.");

            await database.Imports.EnterAsync(cancellationToken).ConfigureAwait(false);
            Writes.BulkInsert insert = database.BulkInsert(new Writes.BulkInsertOptions { SkipUnchanged = true });
            var counts = new SectionCounts();
            var sink = new ImportSink(database, insert, options, counts);
            var scan = new DumpScan(backup, sink, database.Options, options.SkipInvalidDocuments, total, progress, counts);
            try
            {
                BackupReport report = await Task.Run(() => scan.RunAsync(cancellationToken), cancellationToken)
                    .ConfigureAwait(false);
                await insert.CompleteAsync(cancellationToken).ConfigureAwait(false);
                return report;
            }
            catch (Exception error) when (BackupException.From(error) is { } broken)
            {
                await sink.TryEndSectionAsync(cancellationToken).ConfigureAwait(false); // everything before the error is complete
                await insert.CompleteAsync(cancellationToken).ConfigureAwait(false);
                throw new BackupException(
                    broken.Fault,
                    $"{broken.Message} What came before it was imported and stays: {counts.DescribeTaken()}. Import the "
                        + $"whole dump again to have the rest.",
                    error);
            }
            catch
            {
                await insert.AbortAsync().ConfigureAwait(false);
                throw;
            }
            finally
            {
                await database.Imports.LeaveAsync().ConfigureAwait(false);
            }
        }
    }

    private static async Task<BackupReport> VerifyAsync(
        Stream source, long total, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        BackupSource backup = await BackupSource.OpenAsync(source, options, cancellationToken).ConfigureAwait(false);
        await using (backup.ConfigureAwait(false))
        {
            return backup.IsPart
                ? await Of(backup, options, total, progress).VerifyAsync(cancellationToken).ConfigureAwait(false)
                : await RestoreRun.VerifyAsync(backup, options, total, progress, cancellationToken).ConfigureAwait(false);
        }
    }

    private static async Task<BackupReport> VerifyChainAsync(
        IReadOnlyList<BackupPart> parts, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken) =>
        await DumpChain.IsOneAsync(parts, options, cancellationToken).ConfigureAwait(false)
            ? await new DumpChain(parts, options, progress).VerifyAsync(cancellationToken).ConfigureAwait(false)
            : await Of(parts, options, progress).VerifyAsync(cancellationToken).ConfigureAwait(false) with
            {
                PartCount = parts.Count
            };

    private static async Task<BackupReport> WriteAsync(
        Database database, BackupTarget target, BackupOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        if (options.Kind == BackupKind.Logical)
        {
            using DatabaseSnapshot snapshot = database.BeginRead();
            IReadOnlyList<DumpedIndex> indexes = DumpedIndex.Of(database);
            var point = DumpPoint.Of(database.Environment.StoreId, snapshot, indexes);
            bool isWhole = options is { HoldsAll: true, Since: null };
            var header = new DumpHeader(
                database.Name, database.Id, snapshot.LastEtag, database.Options.TimeProvider.GetUtcNow().UtcDateTime, isWhole)
            {
                Since = options.Since is null ? null : DumpIncrement.Since(database, snapshot, point, options.Since),
            };
            return await new BackupRun(snapshot, header, point, indexes, options, database.Options)
                .RunAsync(target, progress, cancellationToken)
                .ConfigureAwait(false);
        }

        if (!options.HoldsAll)
            throw new ArgumentException(
                "A snapshot and a log hold the whole database: nothing can be left out of them or transformed. Take a logical "
                    + "backup for a part of it.",
                nameof(options));
        try
        {
            var run = new SnapshotRun(database, options, progress);
            return options.Kind == BackupKind.Log
                ? await run.WriteLogAsync(target, cancellationToken).ConfigureAwait(false)
                : await run.WritePagesAsync(target, cancellationToken).ConfigureAwait(false);
        }
        catch (BackupPartException error) when (BackupException.From(error) is { } translated)
        {
            throw translated;
        }
    }

    /// <summary>Reads a single part, which may be a backup of any kind.</summary>
    private static async Task<BackupReport> WithOnlyAsync(
        IReadOnlyList<BackupPart> parts, Func<Stream, Task<BackupReport>> read, CancellationToken cancellationToken)
    {
        Stream stream = await parts[0].OpenAsync(cancellationToken).ConfigureAwait(false);
        await using (stream.ConfigureAwait(false))
            return await read(stream).ConfigureAwait(false);
    }

    /// <summary>Restores a chain. The first bytes of its first part determine the kind of the chain.</summary>
    private static async Task<BackupReport> RestoreChainAsync(
        IReadOnlyList<BackupPart> parts, string path, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken) =>
        await DumpChain.IsOneAsync(parts, options, cancellationToken).ConfigureAwait(false)
            ? await new DumpChain(parts, options, progress).RunAsync(path, cancellationToken).ConfigureAwait(false)
            : await Of(parts, options, progress).RunAsync(path, cancellationToken).ConfigureAwait(false) with
            {
                PartCount = parts.Count
            };

    /// <summary>Restores one backup. Its first bytes determine the kind.</summary>
    private static Task<BackupReport> RestoreAsync(
        BackupSource backup, string path, RestoreOptions options, long total, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        if (backup.IsPart)
            return Of(backup, options, total, progress).RunAsync(path, cancellationToken);
        DumpChain.RefusePoint(options);
        return RestoreRun.RunAsync(backup, path, options, total, progress, cancellationToken);
    }

    private static SnapshotRestore Of(
        BackupSource backup, RestoreOptions options, long total, IProgress<BackupProgress>? progress)
    {
        var source = new PartSource(options);
        return new SnapshotRestore([source.Of(backup)], source, options, total, progress);
    }

    private static SnapshotRestore Of(
        IReadOnlyList<BackupPart> parts, RestoreOptions options, IProgress<BackupProgress>? progress)
    {
        var source = new PartSource(options);
        return new SnapshotRestore([.. parts.Select(source.Of)], source, options, 0, progress);
    }
}
