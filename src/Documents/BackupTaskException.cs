namespace Treepie;

/// <summary>A backup task cannot be kept or run. The message says why and what to do.</summary>
public sealed class BackupTaskException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public BackupTaskException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
