using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie.Backups;

/// <summary>A key of backups, for programs that know nothing of the storage below. Disposing zeroes it.</summary>
public sealed class BackupKey : IDisposable
{
    private BackupKey(EncryptionKey key) => Key = key;

    internal EncryptionKey Key { get; }

    /// <summary>
    /// Takes 32 bytes, or their base64 or hexadecimal digits as UTF-8 text; copied, to be zeroed by the caller.
    /// </summary>
    /// <exception cref="KeySourceException">It is no key.</exception>
    public static BackupKey From(ReadOnlySpan<byte> key) => new(KeyText.ReadKey(key, "The key of the backup"));

    /// <inheritdoc/>
    public void Dispose() => Key.Dispose();
}
