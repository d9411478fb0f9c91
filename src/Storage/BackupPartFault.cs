namespace Treepie.Storage;

/// <summary>What is wrong with a part of a backup, or with a chain of them.</summary>
public enum BackupPartFault
{
    /// <summary>It does not begin as a part does.</summary>
    NotAPart,

    /// <summary>A newer program wrote it.</summary>
    Newer,

    /// <summary>It ends too early.</summary>
    CutOff,

    /// <summary>Its bytes are not those that were written.</summary>
    Damaged,

    /// <summary>A frame stands where another belongs: reordered, repeated or left out.</summary>
    FrameMisplaced,

    /// <summary>A frame of another part.</summary>
    FrameForeign,

    /// <summary>Something follows its end.</summary>
    Appended,

    /// <summary>
    /// Its frames are whole, and what they say cannot be: pages that nothing refers to, or that are referred to and not there.
    /// </summary>
    Inconsistent,

    /// <summary>A part that comes before it in the chain is not there.</summary>
    LinkMissing,

    /// <summary>A part of the chain is of another environment, or goes on from another part than the one before it.</summary>
    Foreign,

    /// <summary>The parts are not in the order they were taken.</summary>
    OutOfOrder,

    /// <summary>The log does not go on from where it was archived up to.</summary>
    LogGap,

    /// <summary>The point to stop at is in none of the parts.</summary>
    NoSuchPoint,

    /// <summary>
    /// The environment is encrypted, and neither a key for its backup was given nor permission to make a plain one.
    /// </summary>
    PlainNotAllowed,
}
