namespace Treepie.Encryption;

/// <summary>
/// Thrown when a key source yields no key. The message says which source, why, and what to do; it never contains the value of the
/// source.
/// </summary>
public sealed class KeySourceException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public KeySourceException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
