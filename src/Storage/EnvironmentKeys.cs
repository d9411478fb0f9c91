using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Transactions;

namespace Treepie.Storage;

/// <summary>
/// Changes the keys of an encrypted environment while it is in use, and derives keys for data stored beside it. Thread-safe.
/// </summary>
public static class EnvironmentKeys
{
    /// <summary>
    /// Returns whether the files of a directory are encrypted, according to their header. Needs no key, changes nothing, and
    /// works while the environment is open.
    /// </summary>
    /// <exception cref="ForeignDataException">The directory contains other data, or a newer format.</exception>
    /// <exception cref="CorruptionException">The header is damaged.</exception>
    /// <exception cref="StorageException">There is no environment, or it cannot be read.</exception>
    public static bool IsEncryptedAt(string directory) => MetaOf(directory).Keys is not null;

    /// <summary>
    /// Returns whether a key opens the files of a directory, according to their header; false if they are not encrypted. Changes
    /// nothing, and works while the environment is open.
    /// </summary>
    /// <exception cref="ForeignDataException">The directory contains other data, or a newer format.</exception>
    /// <exception cref="CorruptionException">The header is damaged.</exception>
    /// <exception cref="StorageException">There is no environment, or it cannot be read.</exception>
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
    /// Changes the user's key of an encrypted environment: wraps the data key with the new key and makes that durable; writes no
    /// page. When it returns, only the new key opens the environment; if it is interrupted, either the old or the new one does.
    /// Someone with the old key and a copy of the files from before can obtain the data key: if the old key was compromised,
    /// rotate the data key too.
    /// </summary>
    /// <exception cref="InvalidOperationException">The environment is not encrypted, or read-only.</exception>
    /// <exception cref="ObjectDisposedException">The environment was closed before or during the change; the old key remains
    /// valid.</exception>
    /// <exception cref="StorageException"> The change could not be made durable: the old key remains valid, though a crash before
    /// the next checkpoint may leave the new one. Or the new key is valid, but traces of the old one could not be overwritten.
    /// The message says which.
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
    /// Generates a new data key, rewrites every page encrypted with the old one, in short commits between which others can write,
    /// and then removes the old key. Reads and writes every page once. May be cancelled or interrupted at any time; running it
    /// again continues from there.
    /// </summary>
    /// <param name="environment">The environment.</param>
    /// <param name="key">The current user's key, which wraps the new data key.</param>
    /// <param name="progress">Receives the progress after each step, on the calling thread; or null.</param>
    /// <param name="cancellationToken">Cancels the operation between two steps; the environment still opens with the same user's
    /// key.</param>
    /// <exception cref="EncryptionKeyException">The key is not the current one.</exception>
    /// <exception cref="InvalidOperationException">The environment is not encrypted, or read-only.</exception>
    /// <exception cref="StorageException">As for <see cref="StorageEnvironment.Write{TResult}"/> and
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
    /// Derives a key for data that belongs to this environment and is stored beside it, as indexes are beside documents. The key
    /// is always the same for a purpose, through all changes of keys, and reveals nothing about others.
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
