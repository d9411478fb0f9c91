using Treepie.Archiving;
using Treepie.Backups;
using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie;

/// <summary>
/// Backups of a <see cref="Database"/>, restores and imports: <c>database.BackupAsync(…)</c>, <c>Database.RestoreAsync(…)</c>.
/// </summary>
public static class DatabaseBackups
{
    extension(Database database)
    {
        /// <summary>
        /// Writes a backup of one snapshot while writes continue: documents with their change vectors and times, tombstones,
        /// identities, index definitions. Writes only to <paramref name="destination"/>, which stays open, and no temporary
        /// files.
        /// </summary>
        /// <exception cref="BackupException">The database is encrypted and neither a key nor permission for an unencrypted backup
        /// was given, or zstd is not available on this system.</exception>
        public async Task<BackupReport> BackupAsync(
            Stream destination, BackupOptions? options = null, IProgress<BackupProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(destination);
            options ??= new BackupOptions();
            if (database.IsEncrypted && options is { EncryptionKey: null, AllowPlain: false })
            {
                throw new BackupException(
                    BackupFault.PlainNotAllowed,
                    $"The database '{database.Name}' is encrypted, and its backup would not be: everybody who has the file "
                        + "could read it. Give a key for the backup, or set AllowPlain.");
            }

            if (options.Since is not null && !options.HoldsAll)
                throw new ArgumentException(
                    "An increment continues a backup of the whole database and holds all changes, so nothing can be left out of "
                        + "it or transformed. Take a full backup for a part of the database.",
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

        /// <summary>
        /// Same as <c>BackupAsync</c>, to a file. The file gets its name, replacing an existing one, when it is complete and
        /// durable.
        /// </summary>
        public async Task<BackupReport> BackupAsync(
            string path, BackupOptions? options = null, IProgress<BackupProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            ArgumentException.ThrowIfNullOrWhiteSpace(path);
            DurableFile.RemoveAbandoned(path);
            return await DurableFile.WriteAsync(path, file => database.BackupAsync(file, options, progress, cancellationToken))
                .ConfigureAwait(false);
        }

        /// <summary>
        /// Restores a backup, or a RavenDB dump, to a new directory: with the same documents, change vectors, times, tombstones,
        /// identities, indexes and <see cref="Database.Id"/>. Everything is verified against the counts and the content hash of
        /// the backup before the directory gets its name; after an error or a crash nothing remains.
        /// </summary>
        /// <exception cref="BackupException">The backup is corrupted, truncated or of a newer format, or
        /// <paramref name="directory"/> exists.</exception>
        /// <exception cref="EncryptionKeyException">The backup is encrypted and the key is missing or wrong, or it is unencrypted
        /// and a key was given.</exception>
        /// <exception cref="SealedStreamException">The encrypted stream was tampered with or damaged.</exception>
        /// <exception cref="DiskFullException">The disk is full.</exception>
        public static Task<BackupReport> RestoreAsync(
            Stream source, string directory, RestoreOptions? options = null, IProgress<BackupProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(source);
            ArgumentException.ThrowIfNullOrWhiteSpace(directory);
            return PublishAsync(
                directory, path => RestoreToAsync(source, path, options, progress, cancellationToken), cancellationToken);
        }

        /// <summary>
        /// Verifies a backup by reading all of it: encryption, compression, JSON, every document, counts and content hash.
        /// </summary>
        /// <exception cref="BackupException">The backup is not intact.</exception>
        /// <exception cref="EncryptionKeyException">The backup is encrypted and the key is missing or wrong, or it is unencrypted
        /// and a key was given.</exception>
        /// <exception cref="SealedStreamException">The encrypted stream was tampered with or damaged.</exception>
        public static Task<BackupReport> VerifyBackupAsync(
            Stream source, RestoreOptions? options = null, IProgress<BackupProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(source);
            options = (options ?? new RestoreOptions()) with { IsOnThread = true };
            return WorkThread.RunAsync(() => VerifyAsync(source, options, progress, cancellationToken));
        }

        /// <summary>
        /// Restores a chain: a snapshot, its increments and the log backups, in the order in which they were taken. Otherwise the
        /// same as <c>RestoreAsync</c> of one backup. Restores the last commit of the chain, or the last one up to
        /// <see cref="RestoreOptions.StopAtCommit"/> or <see cref="RestoreOptions.StopAtTime"/>.
        /// </summary>
        /// <exception cref="BackupException">As for one backup, or a part is missing, of another database, or out of order; the
        /// message names it.</exception>
        public static Task<BackupReport> RestoreAsync(
            IReadOnlyList<BackupPart> parts, string directory, RestoreOptions? options = null,
            IProgress<BackupProgress>? progress = null, CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(parts);
            ArgumentException.ThrowIfNullOrWhiteSpace(directory);
            return PublishAsync(
                directory, path => RestoreToAsync(parts, path, options, progress, cancellationToken), cancellationToken);
        }

        /// <summary>
        /// Verifies a chain: each part, that each continues the previous one, and that all pages are present.
        /// </summary>
        /// <exception cref="BackupException">The chain is not intact; the message names the part.</exception>
        public static Task<BackupReport> VerifyBackupAsync(
            IReadOnlyList<BackupPart> parts, RestoreOptions? options = null, IProgress<BackupProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(parts);
            if (parts.Count == 1)
                return WithOnlyAsync(
                    parts, stream => Database.VerifyBackupAsync(stream, options, progress, cancellationToken), cancellationToken);
            options = (options ?? new RestoreOptions()) with { IsOnThread = true };
            return WorkThread.RunAsync(() => VerifyChainAsync(parts, options, progress, cancellationToken));
        }

        /// <summary>
        /// Makes the database archive its log: from now on, also after it is opened again, journal files are reused only when
        /// every reader of the log (<see cref="BackupOptions.LogReader"/>, backup tasks) has read them. Beyond
        /// <paramref name="budgetBytes"/> the oldest files are reused nevertheless: the log then has a gap
        /// (<see cref="BackupFault.LogGap"/>), which the next increment closes. Writers never wait for it.
        /// </summary>
        /// <param name="budgetBytes">The maximum size in bytes of the archived log on disk, at least 1 MiB. 0: the log is only
        /// archived for backup tasks that need it.</param>
        /// <param name="cancellationToken">Cancels the wait for the change to be executed.</param>
        public Task KeepLogAsync(long budgetBytes, CancellationToken cancellationToken = default) =>
            database.Log.SetAsync(budgetBytes, cancellationToken);

        /// <summary>Returns how much of the log is waiting to be backed up, and whether some of it is lost.</summary>
        public LogStatus GetLogStatus() => database.Log.Describe();

        /// <summary>
        /// Imports the contents of a backup or of a RavenDB dump into this database: documents replace those with the same ids;
        /// identities and HiLo ranges are never decreased; auto-indexes are imported as well. Works in durable batches: after an
        /// error, what was imported before it is kept.
        /// </summary>
        /// <exception cref="BackupException">The backup is corrupted or truncated, or contains a document that this database
        /// rejects.</exception>
        public async Task<BackupReport> ImportAsync(
            Stream source, ImportOptions? options = null, IProgress<BackupProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(source);
            try
            {
                return await ImportIntoAsync(database, source, options ?? new ImportOptions(), progress, cancellationToken)
                    .ConfigureAwait(false);
            }
            finally
            {
                database.ApplySettings(); // also those from before an error
            }
        }
    }

    /// <summary>
    /// Restores to a directory that does not exist yet or belongs to the caller, who deletes it after an error.
    /// </summary>
    internal static async Task<BackupReport> RestoreToAsync(
        Stream source, string path, RestoreOptions? options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        options = (options ?? new RestoreOptions()) with { IsRestore = true };
        long total = RestoreRun.LengthOf(source);
        BackupSource backup = await BackupSource.OpenAsync(source, options, cancellationToken).ConfigureAwait(false);
        await using (backup.ConfigureAwait(false))
            return await Task.Run(
                () => RestoreAsync(backup, path, options, total, progress, cancellationToken),
                cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Same as above, for a chain.</summary>
    internal static Task<BackupReport> RestoreToAsync(
        IReadOnlyList<BackupPart> parts, string path, RestoreOptions? options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        if (parts.Count == 1)
            return WithOnlyAsync(
                parts, stream => RestoreToAsync(stream, path, options, progress, cancellationToken), cancellationToken);
        options = (options ?? new RestoreOptions()) with { IsRestore = true };
        return Task.Run(() => RestoreChainAsync(parts, path, options, progress, cancellationToken), cancellationToken);
    }

    /// <summary>Restores beside the directory, which gets its name when all is restored and verified.</summary>
    private static async Task<BackupReport> PublishAsync(
        string directory, Func<string, Task<BackupReport>> restore, CancellationToken cancellationToken)
    {
        using RestorePlace place = RestorePlace.Begin(Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory)));
        BackupReport report = await restore(place.Path).ConfigureAwait(false);
        cancellationToken.ThrowIfCancellationRequested();
        place.Publish();
        return report;
    }

    private static async Task<BackupReport> ImportIntoAsync(
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
                    "This is a snapshot, or a part of one, which can be restored to a new database, but not imported into an "
                        + "existing one. Restore it, or import a logical backup.");

            await database.Imports.EnterAsync(cancellationToken).ConfigureAwait(false);
            BulkInsert insert = database.BulkInsert(new BulkInsertOptions { SkipUnchanged = true });
            var counts = new SectionCounts();
            var sink = new ImportSink(database, insert, options, counts);
            backup.ReadAhead();
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
                        + $"whole dump again to import the rest.",
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
        Stream source, RestoreOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken)
    {
        long total = RestoreRun.LengthOf(source);
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
                "A snapshot or a log holds the whole database, so nothing can be left out of it or transformed. Take a logical "
                    + "backup for a part of the database.",
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
