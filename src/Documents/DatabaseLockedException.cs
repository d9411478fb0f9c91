namespace Treepie;

/// <summary>
/// A database is encrypted and its key is not there, or the one that is there does not open it. The message says which, and how
/// to give the right one.
/// </summary>
public sealed class DatabaseLockedException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public DatabaseLockedException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
