namespace Treepie.Storage;

/// <summary>
/// Thrown when an encrypted stream differs from what was written. No data of the faulty chunk, or after it, was returned.
/// </summary>
public sealed class SealedStreamException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public SealedStreamException(SealedFault fault, string message, Exception? innerException = null)
        : base(message, innerException) => Fault = fault;

    /// <summary>The kind of the error.</summary>
    public SealedFault Fault { get; }
}
