namespace Treepie;

/// <summary>A document, its id or its metadata is not valid or over a limit. Nothing was changed.</summary>
public sealed class InvalidDocumentException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public InvalidDocumentException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
