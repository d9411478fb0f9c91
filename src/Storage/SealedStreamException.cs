namespace Treepie.Storage;

/// <summary>A sealed stream is not as it was written. Nothing of the chunk at fault, or behind it, was handed out.</summary>
public sealed class SealedStreamException : StorageException
{
    /// <summary>Creates the error.</summary>
    public SealedStreamException(SealedFault fault, string message, Exception? innerException = null)
        : base(message, innerException) => Fault = fault;

    /// <summary>What is wrong.</summary>
    public SealedFault Fault { get; }
}
