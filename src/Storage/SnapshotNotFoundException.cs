namespace Treepie.Storage;

/// <summary>There is no named snapshot of that name.</summary>
public sealed class SnapshotNotFoundException : StorageException
{
    /// <summary>Creates the error.</summary>
    public SnapshotNotFoundException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
