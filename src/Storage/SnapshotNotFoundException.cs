namespace Treepie.Storage;

/// <summary>Thrown when a named snapshot does not exist.</summary>
public sealed class SnapshotNotFoundException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public SnapshotNotFoundException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
