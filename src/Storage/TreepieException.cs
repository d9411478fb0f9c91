namespace Treepie;

/// <summary>
/// The base of all exceptions of Treepie. The message says what happened, to what, and what to do.
/// </summary>
public class TreepieException : Exception
{
    /// <summary>Creates the exception.</summary>
    public TreepieException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }

    /// <summary>
    /// Whether the same operation may succeed later without being changed, for example because a resource is free again.
    /// </summary>
    public virtual bool IsTransient => false;
}
