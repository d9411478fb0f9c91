namespace Treepie.Storage;

/// <summary>
/// Thrown when an environment cannot be opened with the given key: it is encrypted and no key was given, it is not encrypted and
/// a key was given, or the key is wrong. Nothing was written.
/// </summary>
public sealed class EncryptionKeyException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public EncryptionKeyException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
