using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie.Backups;

/// <summary>
/// An encryption key of backups, for programs that do not use the storage library directly. Disposing it zeroes the key.
/// </summary>
public sealed class BackupKey : IDisposable
{
    internal BackupKey(EncryptionKey key) => Key = key;

    internal EncryptionKey Key { get; }

    /// <summary>
    /// Creates a key from 32 bytes, or from base64 or hexadecimal digits as UTF-8 text. The bytes are copied; the caller should
    /// zero them.
    /// </summary>
    /// <exception cref="KeySourceException">The input is not a key.</exception>
    public static BackupKey From(ReadOnlySpan<byte> key) => new(KeyText.ReadKey(key, "The key of the backup"));

    /// <inheritdoc/>
    public void Dispose() => Key.Dispose();
}
