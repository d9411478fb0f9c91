namespace Treepie.Storage;

/// <summary>Base of every error the store raises on its own account. The message names the file and what to do.</summary>
public class StorageException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public StorageException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
