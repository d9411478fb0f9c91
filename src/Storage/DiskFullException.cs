namespace Treepie.Storage;

/// <summary>Thrown when there is no space for a write. Nothing of it was kept; reads and deletes still work.</summary>
public sealed class DiskFullException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public DiskFullException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
