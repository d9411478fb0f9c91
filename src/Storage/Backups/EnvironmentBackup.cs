using Treepie.Storage.Encryption;
using Treepie.Storage.Files;

namespace Treepie.Storage.Backups;

/// <summary>
/// Backs up one environment. A snapshot contains the live pages of one state, in page order, streamed to any destination while
/// writes continue; an increment the pages created since another part; a log every commit since then. Backups are restored, or
/// verified without restoring, by <see cref="BackupChain"/>. To back up several environments together, use the types below this
/// one.
/// </summary>
/// <remarks>
/// Guarantees: a single pass, no temporary files, a few MiB of memory plus one bit per page; a checksum for each frame and a hash
/// over everything; a restore yields exactly the state of one commit. Costs: the state is held while it is read, one version of
/// each page. Backups of an encrypted environment are encrypted, unless an unencrypted one is explicitly allowed.
/// </remarks>
public static class EnvironmentBackup
{
    /// <summary>What the store is called in its parts.</summary>
    private const string StoreName = "store";

    /// <summary>
    /// Writes a snapshot or, with <see cref="EnvironmentBackupOptions.Since"/>, an increment; the destination stays open.
    /// </summary>
    /// <exception cref="BackupPartException">The environment is encrypted and neither a key nor permission for an unencrypted
    /// backup was given, or the increment cannot continue from the specified link.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the message names it.</exception>
    public static async Task<EnvironmentBackupLink> WriteAsync(
        StorageEnvironment environment, Stream destination, EnvironmentBackupOptions? options = null,
        IProgress<BackupPartProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        options ??= new EnvironmentBackupOptions();
        Check(environment, destination, options);
        using var snapshot = EnvironmentSnapshot.Begin(environment);
        var header = new BackupPartHeader
        {
            Kind = options.Since is null ? BackupPartKind.Snapshot : BackupPartKind.Increment,
            StoreId = snapshot.StoreId,
            PreviousHash = options.Since?.Hash ?? "",
            TakenAt = environment.World.Clock.GetUtcNow(),
            Commit = snapshot.Commit,
            CommittedAt = snapshot.CommittedAt,
            Since = options.Since?.Commit ?? -1,
        };
        string hash = await WriteAsync(
            destination, options.Key, header,
            writer => snapshot.WriteAsync(writer, StoreName, header.Since, progress, cancellationToken),
            cancellationToken).ConfigureAwait(false);
        return new EnvironmentBackupLink(header.StoreId, header.Commit, hash);
    }

    /// <summary>
    /// Writes all commits after that of <see cref="EnvironmentBackupOptions.Since"/>, which is required, and releases the log up
    /// to that commit; the destination stays open.
    /// </summary>
    /// <returns>The link with the last commit of the log, from which the next log backup continues once this one is
    /// durable.</returns>
    /// <exception cref="BackupPartException">As for <see cref="EnvironmentLogStretch.Begin"/> and
    /// <see cref="WriteAsync(StorageEnvironment, Stream, EnvironmentBackupOptions?, IProgress{BackupPartProgress}?, CancellationToken)"/>.</exception>
    public static async Task<EnvironmentBackupLink> WriteLogAsync(
        StorageEnvironment environment, Stream destination, EnvironmentBackupOptions options,
        IProgress<BackupPartProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(options);
        Check(environment, destination, options);
        EnvironmentBackupLink since = options.Since
            ?? throw new ArgumentException("A log backup continues a snapshot or a log: set which one.", nameof(options));
        using var stretch = EnvironmentLogStretch.Begin(environment, since.Commit);
        environment.ReleaseLog(since.Commit);
        var header = new BackupPartHeader
        {
            Kind = BackupPartKind.Log,
            StoreId = environment.StoreId,
            TakenAt = environment.World.Clock.GetUtcNow(),
            Commit = stretch.Commit,
            CommittedAt = stretch.CommittedAt,
            Since = since.Commit,
        };
        await WriteAsync(
            destination, options.Key, header, writer => stretch.WriteAsync(writer, progress, cancellationToken),
            cancellationToken).ConfigureAwait(false);
        return since with { Commit = header.Commit };
    }

    /// <summary>
    /// Restores a chain to a directory that does not exist or is empty. The environment is created in a temporary directory
    /// beside it, checked, and then renamed; if interrupted, the restore can be run again.
    /// </summary>
    /// <param name="parts">The parts, in the order in which they were taken; open encrypted ones with <see cref="Open"/>.</param>
    /// <param name="directory">The target directory.</param>
    /// <param name="key">The key of the new environment; null: it is not encrypted, whatever the source was.</param>
    /// <param name="options">The point at which to stop; null: at the end.</param>
    /// <param name="progress">Receives the progress after each frame; or null.</param>
    /// <param name="cancellationToken">Cancels the restore; nothing remains then.</param>
    /// <exception cref="BackupPartException">A part is not intact, or the parts do not belong together.</exception>
    /// <exception cref="StorageException">The directory is not empty, or cannot be written.</exception>
    public static async Task<BackupChainReport> RestoreAsync(
        IReadOnlyList<BackupChainPart> parts, string directory, EncryptionKey? key = null, BackupChainOptions? options = null,
        IProgress<BackupPartProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        using var place = NewDirectory.Begin(directory);
        using BackupChain chain = await BackupChain.OpenAsync(parts, options, cancellationToken).ConfigureAwait(false);
        BackupChainReport report = await chain.ReadAsync(
            _ => EnvironmentRestore.Create(place.Path, key), progress, cancellationToken).ConfigureAwait(false);
        place.Publish();
        return report;
    }

    /// <summary>Verifies a chain by reading it in full; see <see cref="BackupChain.ReadAsync"/>.</summary>
    /// <exception cref="BackupPartException">A part is not intact, or the parts do not belong together.</exception>
    public static async Task<BackupChainReport> VerifyAsync(
        IReadOnlyList<BackupChainPart> parts, BackupChainOptions? options = null, IProgress<BackupPartProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        using BackupChain chain = await BackupChain.OpenAsync(parts, options, cancellationToken).ConfigureAwait(false);
        return await chain.ReadAsync(null, progress, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Returns a part that is encrypted with a key, or unencrypted if the key is null.</summary>
    public static BackupChainPart Open(string name, Func<CancellationToken, ValueTask<Stream>> openAsync, EncryptionKey? key) =>
        new(
            name,
            async cancellationToken =>
            {
                Stream stream = await openAsync(cancellationToken).ConfigureAwait(false);
                return key is null ? stream : new SealedReadStream(stream, key);
            });

    private static void Check(StorageEnvironment environment, Stream destination, EnvironmentBackupOptions options)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(destination);
        if (environment.IsEncrypted && options is { Key: null, AllowPlain: false })
            throw new BackupPartException(
                BackupPartFault.PlainNotAllowed,
                $"'{environment.World.Files.Path}' is encrypted, and its backup would be plain: everybody who has it could read "
                    + $"it. Give a key for the backup, or say that it may be plain.");
        if (options.Since is { } since && since.StoreId != environment.StoreId)
            throw new BackupPartException(
                BackupPartFault.Foreign,
                $"The backup to continue is of another store ({since.StoreId}); '{environment.World.Files.Path}' is "
                    + $"{environment.StoreId}. Begin with a snapshot.");
    }

    private static async Task<string> WriteAsync(
        Stream destination, EncryptionKey? key, BackupPartHeader header, Func<BackupPartWriter, Task<long>> write,
        CancellationToken cancellationToken)
    {
        SealedWriteStream? seal = key is null ? null : new SealedWriteStream(destination, key, leaveOpen: true);
        try
        {
            using var writer = new BackupPartWriter(seal ?? destination, header);
            await write(writer).ConfigureAwait(false);
            string hash = await writer.CompleteAsync(cancellationToken).ConfigureAwait(false);
            if (seal is not null)
                await seal.CompleteAsync(cancellationToken).ConfigureAwait(false);
            return hash;
        }
        finally
        {
            if (seal is not null)
                await seal.DisposeAsync().ConfigureAwait(false);
        }
    }
}
