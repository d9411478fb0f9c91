using Treepie.Storage;

namespace Treepie;

/// <summary>A backup cannot be read, written or restored. The message says what is wrong, where, and what to do.</summary>
public sealed class BackupException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public BackupException(BackupFault fault, string message, Exception? innerException = null)
        : base(message, innerException) => Fault = fault;

    /// <summary>What is wrong.</summary>
    public BackupFault Fault { get; }

    /// <summary>
    /// The same said of the backup, where an error is about its key or its seal; null where it is about something else.
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

/// <summary>What is wrong with a backup.</summary>
public enum BackupFault
{
    /// <summary>It is something else: no compressed JSON object, sealed or not.</summary>
    NotABackup,

    /// <summary>It was written in a format this program does not know.</summary>
    Newer,

    /// <summary>It ends too early.</summary>
    CutOff,

    /// <summary>It is not what was written: compression, JSON, counts or content hash say so.</summary>
    Damaged,

    /// <summary>It is sealed and the key is missing or wrong, or it is plain and a key was given.</summary>
    KeyRefused,

    /// <summary>One of its documents is none, or over a limit.</summary>
    DocumentRefused,

    /// <summary>There is something where it is to be restored to.</summary>
    TargetExists,

    /// <summary>What was restored is not what the backup holds; nothing was kept.</summary>
    RestoredOtherwise,

    /// <summary>
    /// The database is encrypted, and neither a key for its backup was given nor permission to make a plain one.
    /// </summary>
    PlainNotAllowed,

    /// <summary>It is part of a chain, and a part before it is not there.</summary>
    LinkMissing,

    /// <summary>It is, or goes on from, a backup of another database, or of another history of this one.</summary>
    Foreign,

    /// <summary>Parts of a chain come in another order than they were taken.</summary>
    OutOfOrder,

    /// <summary>
    /// The log does not go on from where it was archived up to: the database keeps none, or it grew over its budget. The next
    /// increment closes the gap.
    /// </summary>
    LogGap,

    /// <summary>The point to stop at lies before the snapshot, or behind all that is there.</summary>
    NoSuchPoint,
}
