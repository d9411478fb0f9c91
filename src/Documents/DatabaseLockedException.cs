namespace Treepie;

/// <summary>
/// Thrown when a database is encrypted and its key is missing or wrong. The message says which, and how to provide the right one.
/// </summary>
public sealed class DatabaseLockedException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public DatabaseLockedException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
