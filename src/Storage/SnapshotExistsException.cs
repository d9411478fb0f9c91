namespace Treepie.Storage;

/// <summary>Thrown when a named snapshot already exists. Nothing was changed.</summary>
public sealed class SnapshotExistsException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public SnapshotExistsException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
