namespace Treepie.Storage;

/// <summary>
/// The journal could not be written or synced: the commit may or may not be found after reopening. The environment is read-only
/// from here on.
/// </summary>
public sealed class CommitOutcomeUnknownException : StorageException
{
    /// <summary>Creates the error.</summary>
    public CommitOutcomeUnknownException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
