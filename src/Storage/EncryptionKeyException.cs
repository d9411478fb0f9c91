namespace Treepie.Storage;

/// <summary>
/// An environment cannot be opened with the key that was given: none was given and it is encrypted, one was given and it is not,
/// or it is the wrong one. Nothing was written.
/// </summary>
public sealed class EncryptionKeyException : StorageException
{
    /// <summary>Creates the error.</summary>
    public EncryptionKeyException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
