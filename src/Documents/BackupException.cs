using Treepie.Storage;

namespace Treepie;

/// <summary>
/// Thrown when a backup cannot be read, written or restored. The message says what is wrong, where, and what to do.
/// </summary>
public sealed class BackupException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public BackupException(BackupFault fault, string message, Exception? innerException = null)
        : base(message, innerException) => Fault = fault;

    /// <summary>The kind of the error.</summary>
    public BackupFault Fault { get; }

    /// <summary>
    /// Converts an error about a key or an encrypted stream to an exception about the backup; returns null for other errors.
    /// </summary>
    public static BackupException? From(Exception error) => error switch
    {
        BackupException backup => backup,
        EncryptionKeyException => new BackupException(BackupFault.KeyRefused, error.Message, error),
        SealedStreamException { Fault: SealedFault.CutOff } => new BackupException(BackupFault.CutOff, error.Message, error),
        SealedStreamException { Fault: SealedFault.Newer } => new BackupException(BackupFault.Newer, error.Message, error),
        BackupPartException part => new BackupException(FaultOf(part.Fault), error.Message, error),
        InvalidDataException => new BackupException(
            BackupFault.Damaged, $"The backup cannot be decompressed: {error.Message} Take another copy.", error),
        SealedStreamException => new BackupException(BackupFault.Damaged, error.Message, error),
        _ => null,
    };

    private static BackupFault FaultOf(BackupPartFault fault) => fault switch
    {
        BackupPartFault.NotAPart => BackupFault.NotABackup,
        BackupPartFault.Newer => BackupFault.Newer,
        BackupPartFault.CutOff => BackupFault.CutOff,
        BackupPartFault.LinkMissing => BackupFault.LinkMissing,
        BackupPartFault.Foreign => BackupFault.Foreign,
        BackupPartFault.OutOfOrder => BackupFault.OutOfOrder,
        BackupPartFault.LogGap => BackupFault.LogGap,
        BackupPartFault.NoSuchPoint => BackupFault.NoSuchPoint,
        BackupPartFault.PlainNotAllowed => BackupFault.PlainNotAllowed,
        _ => BackupFault.Damaged,
    };
}

/// <summary>The kinds of errors of backups.</summary>
public enum BackupFault
{
    /// <summary>The file is not a backup: it is not a compressed JSON object, encrypted or not.</summary>
    NotABackup,

    /// <summary>The format of the backup is not supported by this version.</summary>
    Newer,

    /// <summary>The backup is truncated.</summary>
    CutOff,

    /// <summary>The backup is corrupted, as its compression, JSON, counts or content hash show.</summary>
    Damaged,

    /// <summary>The backup is encrypted and the key is missing or wrong, or it is unencrypted and a key was given.</summary>
    KeyRefused,

    /// <summary>A document in the backup is invalid or exceeds a limit.</summary>
    DocumentRefused,

    /// <summary>The target of the restore already exists.</summary>
    TargetExists,

    /// <summary>The restored data differs from the backup; nothing was kept.</summary>
    RestoredOtherwise,

    /// <summary>
    /// The database is encrypted, and neither a key for its backup nor permission for an unencrypted one was given.
    /// </summary>
    PlainNotAllowed,

    /// <summary>The backup is part of a chain, and an earlier part is missing.</summary>
    LinkMissing,

    /// <summary>The backup, or the one it continues, is of another database or of another history of this one.</summary>
    Foreign,

    /// <summary>The parts of the chain are not in the order in which they were taken.</summary>
    OutOfOrder,

    /// <summary>
    /// The log since the last log backup is not available: the database does not archive its log, or it exceeded its budget. The
    /// next increment closes the gap.
    /// </summary>
    LogGap,

    /// <summary>The point at which to stop is before the snapshot or after the end of the chain.</summary>
    NoSuchPoint,
}
