namespace Treepie.Storage;

/// <summary>The base of all exceptions of the storage engine. The message names the file and says what to do.</summary>
public class StorageException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public StorageException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
