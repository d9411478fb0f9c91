namespace Treepie.Storage;

/// <summary>
/// Thrown when a part of a backup, or a chain of parts, is not valid. The message names the part and says what to do; nothing
/// remains of a failed restore.
/// </summary>
public sealed class BackupPartException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public BackupPartException(BackupPartFault fault, string message, Exception? innerException = null)
        : base(message, innerException) => Fault = fault;

    /// <summary>The kind of the error.</summary>
    public BackupPartFault Fault { get; }
}
