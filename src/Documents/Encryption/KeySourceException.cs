namespace Treepie.Encryption;

/// <summary>A key source gave no key. The message says which source, why, and what to do; never what the source gave.</summary>
public sealed class KeySourceException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public KeySourceException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
