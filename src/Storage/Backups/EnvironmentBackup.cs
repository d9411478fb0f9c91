using Treepie.Storage.Encryption;
using Treepie.Storage.Files;

namespace Treepie.Storage.Backups;

/// <summary>
/// Front door of the room: backups of one environment. A snapshot is the live pages of one state, in page order, streamed to any
/// destination while writers go on; an increment the pages born since another; a log every commit since. Restored, or proven
/// without restoring, by <see cref="BackupChain"/>; who backs up several environments together uses what stands below this.
/// </summary>
/// <remarks>
/// Promises: one pass, nothing on the disk, a few MiB of memory and a bit for each page; a checksum for each frame and a hash
/// over all; what is restored is exactly the state of one commit. Costs: the state stays occupied while it is read, one version
/// of each page. An encrypted environment gives sealed backups, or says that they are plain.
/// </remarks>
public static class EnvironmentBackup
{
    /// <summary>What the store is called in its parts.</summary>
    private const string StoreName = "store";

    /// <summary>
    /// Writes a snapshot, or with <see cref="EnvironmentBackupOptions.Since"/> an increment; the destination stays open.
    /// </summary>
    /// <exception cref="BackupPartException">The environment is encrypted and neither a key nor permission for a plain backup was
    /// given; or it does not go on from there.</exception>
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
    /// Writes all commits after that of <see cref="EnvironmentBackupOptions.Since"/>, which is needed, and releases those up to
    /// it; the destination stays open.
    /// </summary>
    /// <returns>The link with the last commit of the log: where the next stretch goes on from, once this one is
    /// durable.</returns>
    /// <exception cref="BackupPartException">As <see cref="EnvironmentLogStretch.Begin"/>, and as
    /// <see cref="WriteAsync(StorageEnvironment, Stream, EnvironmentBackupOptions?, IProgress{BackupPartProgress}?, CancellationToken)"/>.</exception>
    public static async Task<EnvironmentBackupLink> WriteLogAsync(
        StorageEnvironment environment, Stream destination, EnvironmentBackupOptions options,
        IProgress<BackupPartProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(options);
        Check(environment, destination, options);
        EnvironmentBackupLink since = options.Since
            ?? throw new ArgumentException("A log goes on from a snapshot or a log: say from which.", nameof(options));
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
    /// Restores a chain to a directory that is absent or empty. It is made in another one beside it, walked as a check walks an
    /// environment, and takes its name then; killed before, it can be run again.
    /// </summary>
    /// <param name="parts">In the order they were taken; sealed ones by <see cref="Open"/>.</param>
    /// <param name="directory">Where.</param>
    /// <param name="key">Key of the environment to be; null: it is plain, whatever the source was.</param>
    /// <param name="options">Up to where; null: to the end.</param>
    /// <param name="progress">Told after each frame, or null.</param>
    /// <param name="cancellationToken">Ends it; nothing is left then.</param>
    /// <exception cref="BackupPartException">A part is not whole, or they do not belong together.</exception>
    /// <exception cref="StorageException">Something is in the directory, or it cannot be written.</exception>
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

    /// <summary>Reads a chain to its end and keeps nothing; see <see cref="BackupChain.ReadAsync"/>.</summary>
    /// <exception cref="BackupPartException">A part is not whole, or they do not belong together.</exception>
    public static async Task<BackupChainReport> VerifyAsync(
        IReadOnlyList<BackupChainPart> parts, BackupChainOptions? options = null, IProgress<BackupPartProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        using BackupChain chain = await BackupChain.OpenAsync(parts, options, cancellationToken).ConfigureAwait(false);
        return await chain.ReadAsync(null, progress, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>A part that was sealed with a key, or is plain where the key is null.</summary>
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
                $"A backup of another store ({since.StoreId}) cannot be gone on from: '{environment.World.Files.Path}' is "
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
