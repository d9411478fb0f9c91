namespace Treepie;

/// <summary>Base of every error that any part of Treepie raises on its own account. The message says what happened, to what, and what to do.</summary>
public class TreepieException : Exception
{
    /// <summary>Creates the error.</summary>
    public TreepieException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
