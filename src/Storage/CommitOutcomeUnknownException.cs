namespace Treepie.Storage;

/// <summary>
/// Thrown when the journal could not be written or synced: the commit may or may not exist after reopening. The environment is
/// read-only from then on.
/// </summary>
public sealed class CommitOutcomeUnknownException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public CommitOutcomeUnknownException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
