namespace Treepie.Storage;

/// <summary>Thrown when another process, named in the message, has the directory open.</summary>
public sealed class EnvironmentLockedException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public EnvironmentLockedException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
