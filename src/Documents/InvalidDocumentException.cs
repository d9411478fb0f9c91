namespace Treepie;

/// <summary>Thrown when a document, its id or its metadata is not valid or exceeds a limit. Nothing was changed.</summary>
public sealed class InvalidDocumentException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public InvalidDocumentException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
