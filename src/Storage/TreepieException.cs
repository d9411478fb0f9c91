namespace Treepie;

/// <summary>
/// Base of every error that any part of Treepie raises on its own account. The message says what happened, to what, and what to
/// do.
/// </summary>
public class TreepieException : Exception
{
    /// <summary>Creates the error.</summary>
    public TreepieException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }

    /// <summary>
    /// Whether the same may succeed later without being changed: something that is used up now may be free again.
    /// </summary>
    public virtual bool IsTransient => false;
}
