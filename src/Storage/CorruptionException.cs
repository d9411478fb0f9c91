namespace Treepie.Storage;

/// <summary>
/// Thrown when data read from the disk differs from what was written. The message names the file, page and tree.
/// </summary>
public sealed class CorruptionException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public CorruptionException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
