using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Transactions;

namespace Treepie.Storage;

/// <summary>
/// The keys of an encrypted environment: changed while it is in use, and derived for what lies beside it. Thread-safe.
/// </summary>
public static class EnvironmentKeys
{
    /// <summary>
    /// Whether the files of a directory are encrypted, as they say themselves; needs no key, opens and changes nothing. Also
    /// while somebody has it open.
    /// </summary>
    /// <exception cref="ForeignDataException">It holds something else, or a newer format.</exception>
    /// <exception cref="CorruptionException">It is too damaged to say.</exception>
    /// <exception cref="StorageException">There is no store, or it cannot be read.</exception>
    public static bool IsEncryptedAt(string directory) => MetaOf(directory).Keys is not null;

    /// <summary>
    /// Whether a key opens the files of a directory, as they say themselves; opens and changes nothing. Also while somebody has
    /// it open. False where they are not encrypted.
    /// </summary>
    /// <exception cref="ForeignDataException">It holds something else, or a newer format.</exception>
    /// <exception cref="CorruptionException">It is too damaged to say.</exception>
    /// <exception cref="StorageException">There is no store, or it cannot be read.</exception>
    public static bool IsKeyOf(string directory, EncryptionKey key)
    {
        ArgumentNullException.ThrowIfNull(key);
        MetaPage meta = MetaOf(directory);
        if (meta.Keys is not { } block)
            return false;
        using DataKeys? keys = DataKeys.TryUnwrap(block, meta.StoreId, key);
        return keys is not null;
    }

    /// <summary>
    /// Changes the user's key of an encrypted environment: wraps the data key anew and makes that durable; no page is written.
    /// From its return on only the new key opens it; killed before, the old one or the new one does. Who had the old key and a
    /// copy of the files from then can have the data key from it: where the old key leaked, rotate the data key too.
    /// </summary>
    /// <exception cref="InvalidOperationException">The environment is not encrypted, or read-only.</exception>
    /// <exception cref="ObjectDisposedException">The environment was closed before or meanwhile: the old key stays in
    /// force.</exception>
    /// <exception cref="StorageException">
    /// It could not be made durable: the old key stays in force, though a kill before the next checkpoint may leave the new one.
    /// Or the new key is in force, and traces of the old one could not be overwritten: the message says so.
    /// </exception>
    public static void ChangeKey(
        this StorageEnvironment environment, EncryptionKey next, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(next);
        KeyRotation rotation = Rotation(environment);
        environment.RunLong(
            token =>
            {
                rotation.ChangeKey(next, token);
                return true;
            },
            cancellationToken);
    }

    /// <summary>
    /// Draws a new data key and writes every page that was sealed with the old one again, in short commits between which others
    /// write; then forgets the old one. Every page is read and written once. May be cancelled or killed at any time and run
    /// again, which goes on from there.
    /// </summary>
    /// <param name="environment">The environment.</param>
    /// <param name="key">The user's key in force, which wraps the new data key.</param>
    /// <param name="progress">Told after each step, on the calling thread, or null.</param>
    /// <param name="cancellationToken">Ends it between two steps; the environment opens with the same key of the user's as
    /// before.</param>
    /// <exception cref="EncryptionKeyException">The key is not the one in force.</exception>
    /// <exception cref="InvalidOperationException">The environment is not encrypted, or read-only.</exception>
    /// <exception cref="StorageException">As <see cref="StorageEnvironment.Write{TResult}"/> and
    /// <see cref="StorageEnvironment.Checkpoint"/>.</exception>
    public static KeyRotationReport RotateDataKey(
        this StorageEnvironment environment, EncryptionKey key, IProgress<KeyRotationProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(key);
        KeyRotation rotation = Rotation(environment);
        return environment.RunLong(token => rotation.RotateDataKey(key, progress, token), cancellationToken);
    }

    /// <summary>
    /// A key for something that belongs to this environment and lies beside it, as indexes do beside documents: always the same
    /// for a purpose, through all changes of keys, and telling nothing of others.
    /// </summary>
    /// <param name="environment">The environment.</param>
    /// <param name="purpose">1 to 200 bytes of UTF-8.</param>
    /// <exception cref="InvalidOperationException">The environment is not encrypted.</exception>
    public static EncryptionKey DeriveKey(this StorageEnvironment environment, string purpose)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentException.ThrowIfNullOrEmpty(purpose);
        return CipherOf(environment).DeriveKey(purpose);
    }

    private static MetaPage MetaOf(string directory)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        IFileSystem files = World.OfDisk(directory).Files;
        files.Calls.RequireLittleEndian();
        if (!files.List().Contains(FormatLimits.DataFileName))
            throw new StorageException($"There is no store in '{files.Path}': '{FormatLimits.DataFileName}' is missing.");

        using IFile file = files.Open(FormatLimits.DataFileName, create: false, writable: false);
        return DataFile.ReadMeta(files, file);
    }

    private static KeyRotation Rotation(StorageEnvironment environment)
    {
        environment.ThrowIfNotWritable();
        return new KeyRotation(
            environment, CipherOf(environment), environment.Commits, environment.Checkpoints, environment.RotationGate,
            environment.DropSupersededJournal);
    }

    private static StoreCipher CipherOf(StorageEnvironment environment) =>
        environment.Cipher
            ?? throw new InvalidOperationException($"'{environment.State.Store.Path}' is not encrypted: it has no keys.");
}
