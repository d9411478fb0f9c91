namespace Treepie.Storage;

/// <summary>No room for the write; nothing of it was kept, reads and deletes go on.</summary>
public sealed class DiskFullException : StorageException
{
    /// <summary>Creates the error.</summary>
    public DiskFullException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
