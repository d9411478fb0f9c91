namespace Treepie;

/// <summary>Thrown when a backup task cannot be stored or run. The message says why and what to do.</summary>
public sealed class BackupTaskException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public BackupTaskException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
