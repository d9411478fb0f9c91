namespace Treepie.Storage;

/// <summary>
/// A session has read or written more than <see cref="OptimisticSessionOptions"/> allow. What it has so far may still be
/// committed.
/// </summary>
public sealed class SessionLimitException : StorageException
{
    internal SessionLimitException(string message)
        : base(message)
    {
    }
}
