namespace Treepie.Storage;

/// <summary>Thrown when a directory contains files of another program or of a newer format. Nothing was written.</summary>
public sealed class ForeignDataException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public ForeignDataException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
