namespace Treepie.Storage;

/// <summary>A named snapshot of that name is there already; nothing was changed.</summary>
public sealed class SnapshotExistsException : StorageException
{
    /// <summary>Creates the error.</summary>
    public SnapshotExistsException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
