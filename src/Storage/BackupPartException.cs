namespace Treepie.Storage;

/// <summary>
/// A part of a backup, or a chain of them, is not as it has to be. The message names the part and what to do; nothing of what was
/// restored is left.
/// </summary>
public sealed class BackupPartException : StorageException
{
    /// <summary>Creates the error.</summary>
    public BackupPartException(BackupPartFault fault, string message, Exception? innerException = null)
        : base(message, innerException) => Fault = fault;

    /// <summary>What is wrong.</summary>
    public BackupPartFault Fault { get; }
}
