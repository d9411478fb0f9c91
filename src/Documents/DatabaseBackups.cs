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
        /// Writes a backup of one snapshot while writers go on: documents with their change vectors and times, tombstones,
        /// identities, definitions of indexes. Not a byte goes to the disk of this process but what
        /// <paramref name="destination"/> puts there, which stays open.
        /// </summary>
        /// <exception cref="BackupException">The database is encrypted and neither a key nor permission for a plain backup was
        /// given; or zstd is not on this system.</exception>
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
        /// As <c>BackupAsync</c>, to a file, which
        /// takes its name, and the place of a file of that name, when it is whole and durable.
        /// </summary>
        public Task<BackupReport> BackupAsync(
            string path, BackupOptions? options = null, IProgress<BackupProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            ArgumentException.ThrowIfNullOrWhiteSpace(path);
            return DatabaseBackup.WriteFileAsync(database, path, options ?? new BackupOptions(), progress, cancellationToken);
        }

        /// <summary>
        /// Restores a backup, or a dump of RavenDB, to a new directory: the same documents, change vectors, times, tombstones,
        /// identities and indexes, the same <see cref="Database.Id"/>. All is compared with the backup's counts and content hash
        /// before the directory takes its name; after an error, or a kill, nothing is there.
        /// </summary>
        /// <exception cref="BackupException">It is damaged, cut off, of a newer format, or something is at
        /// <paramref name="directory"/>.</exception>
        /// <exception cref="EncryptionKeyException">It is sealed and the key is missing or wrong, or it is plain and a key was
        /// given.</exception>
        /// <exception cref="SealedStreamException">Its seal is broken.</exception>
        /// <exception cref="DiskFullException">There is no room.</exception>
        public static Task<BackupReport> RestoreAsync(
            Stream source, string directory, RestoreOptions? options = null, IProgress<BackupProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(source);
            ArgumentException.ThrowIfNullOrWhiteSpace(directory);
            return DatabaseBackup.RestoreAsync(source, directory, options ?? new RestoreOptions(), progress, cancellationToken);
        }

        /// <summary>
        /// Reads a whole backup: seal, compression, JSON, every document, counts and content hash; restores nothing.
        /// </summary>
        /// <exception cref="BackupException">It is not whole.</exception>
        /// <exception cref="EncryptionKeyException">It is sealed and the key is missing or wrong, or it is plain and a key was
        /// given.</exception>
        /// <exception cref="SealedStreamException">Its seal is broken.</exception>
        public static Task<BackupReport> VerifyBackupAsync(
            Stream source, RestoreOptions? options = null, IProgress<BackupProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(source);
            return DatabaseBackup.VerifyAsync(source, options ?? new RestoreOptions(), progress, cancellationToken);
        }

        /// <summary>
        /// As <c>RestoreAsync</c>, of a chain:
        /// a snapshot, the increments to it, and the log, in the order they were taken. Lands on the last commit there is, or on
        /// the last one up to where <see cref="RestoreOptions.StopAtCommit"/> or <see cref="RestoreOptions.StopAtTime"/> says.
        /// </summary>
        /// <exception cref="BackupException">As there; or a part is missing, of another database, or not in its place. The
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
        /// As <c>VerifyBackupAsync</c>, of a chain:
        /// each part, that each follows the one before, and that all pages are there.
        /// </summary>
        /// <exception cref="BackupException">It is not whole; the message names the part.</exception>
        public static Task<BackupReport> VerifyBackupAsync(
            IReadOnlyList<BackupPart> parts, RestoreOptions? options = null, IProgress<BackupProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(parts);
            return DatabaseBackup.VerifyAsync(parts, options ?? new RestoreOptions(), progress, cancellationToken);
        }

        /// <summary>
        /// Keeps the log of commits until everybody who archives it (<see cref="BackupOptions.LogReader"/>, tasks) has taken it,
        /// from now on and through reopening: files of the journal are not used again before. Beyond
        /// <paramref name="budgetBytes"/> the oldest are nevertheless: the log then has a gap (<see cref="BackupFault.LogGap"/>),
        /// which the next increment closes. Writers never wait for it.
        /// </summary>
        /// <param name="budgetBytes">Most bytes that wait on the disk; at least 1 MiB. 0: not kept but for tasks that archive
        /// it.</param>
        /// <param name="cancellationToken">Cancels the wait for its turn.</param>
        public Task KeepLogAsync(long budgetBytes, CancellationToken cancellationToken = default) =>
            database.Log.SetAsync(budgetBytes, cancellationToken);

        /// <summary>How much of the log waits to be archived, and whether some of it is lost.</summary>
        public LogStatus GetLogStatus() => database.Log.Describe();

        /// <summary>
        /// Brings the content of a backup, or of a dump of RavenDB, into this database: documents over those of the same ids,
        /// identities and ranges of ids never backwards, and auto-indexes. In durable batches: after an error what came before it
        /// stays.
        /// </summary>
        /// <exception cref="BackupException">It is damaged, cut off, or holds a document that this database refuses.</exception>
        public async Task<BackupReport> ImportAsync(
            Stream source, ImportOptions? options = null, IProgress<BackupProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(source);
            BackupReport report = await DatabaseBackup.ImportAsync(
                database, source, options ?? new ImportOptions(), progress, cancellationToken).ConfigureAwait(false);
            database.Lifecycle.Apply(); // settings came with it
            database.TimeSeriesPolicies.Apply();
            database.Compression.Apply();
            database.Settings.Forget();
            return report;
        }
    }
}
