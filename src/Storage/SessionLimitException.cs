namespace Treepie.Storage;

/// <summary>
/// Thrown when a session has read or written more than <see cref="OptimisticSessionOptions"/> allow. What it has read and written
/// so far can still be committed.
/// </summary>
public sealed class SessionLimitException : StorageException
{
    internal SessionLimitException(string message)
        : base(message)
    {
    }
}
