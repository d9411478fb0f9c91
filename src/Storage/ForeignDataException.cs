namespace Treepie.Storage;

/// <summary>The directory holds files that are not of this store, or of a newer format; nothing was written.</summary>
public sealed class ForeignDataException : StorageException
{
    /// <summary>Creates the error.</summary>
    public ForeignDataException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
