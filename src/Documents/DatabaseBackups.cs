using Treepie.Archiving;
using Treepie.Backups;
using Treepie.Storage;

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
            return await DatabaseBackup.WriteAsync(
                database, destination, options ?? new BackupOptions(), progress, cancellationToken)
                .ConfigureAwait(false);
        }

        /// <summary>
        /// Same as <c>BackupAsync</c>, to a file. The file gets its name, replacing an existing one, when it is complete and
        /// durable.
        /// </summary>
        public Task<BackupReport> BackupAsync(
            string path, BackupOptions? options = null, IProgress<BackupProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            ArgumentException.ThrowIfNullOrWhiteSpace(path);
            return DatabaseBackup.WriteFileAsync(database, path, options ?? new BackupOptions(), progress, cancellationToken);
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
            return DatabaseBackup.RestoreAsync(source, directory, options ?? new RestoreOptions(), progress, cancellationToken);
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
            return DatabaseBackup.VerifyAsync(source, options ?? new RestoreOptions(), progress, cancellationToken);
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
            return DatabaseBackup.RestoreAsync(parts, directory, options ?? new RestoreOptions(), progress, cancellationToken);
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
            return DatabaseBackup.VerifyAsync(parts, options ?? new RestoreOptions(), progress, cancellationToken);
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
                return await DatabaseBackup.ImportAsync(
                    database, source, options ?? new ImportOptions(), progress, cancellationToken).ConfigureAwait(false);
            }
            finally
            {
                database.ApplySettings(); // also those from before an error
            }
        }
    }
}
