namespace Treepie.Storage;

/// <summary>What was read from the disk is not what was written there. Names file, page and tree.</summary>
public sealed class CorruptionException : StorageException
{
    /// <summary>Creates the error.</summary>
    public CorruptionException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
