namespace Treepie;

/// <summary>Base of the errors a database raises. The message says what happened, to what, and what to do.</summary>
public class TreepieException : Exception
{
    /// <summary>Creates the error.</summary>
    public TreepieException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
