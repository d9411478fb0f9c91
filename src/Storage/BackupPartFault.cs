namespace Treepie.Storage;

/// <summary>The kinds of errors of a backup part or a chain of parts.</summary>
public enum BackupPartFault
{
    /// <summary>It does not start with the header of a part.</summary>
    NotAPart,

    /// <summary>It was written by a newer version.</summary>
    Newer,

    /// <summary>It is truncated.</summary>
    CutOff,

    /// <summary>It is corrupted.</summary>
    Damaged,

    /// <summary>A frame is out of place: reordered, repeated or missing.</summary>
    FrameMisplaced,

    /// <summary>A frame belongs to another part.</summary>
    FrameForeign,

    /// <summary>There is data after its end.</summary>
    Appended,

    /// <summary>
    /// Its frames are intact, but their contents are inconsistent: pages that nothing refers to, or references to missing pages.
    /// </summary>
    Inconsistent,

    /// <summary>An earlier part of the chain is missing.</summary>
    LinkMissing,

    /// <summary>A part of the chain belongs to another environment, or continues another part than the one before it.</summary>
    Foreign,

    /// <summary>The parts are not in the order in which they were taken.</summary>
    OutOfOrder,

    /// <summary>The log does not continue where its archived part ends.</summary>
    LogGap,

    /// <summary>None of the parts contains the point at which to stop.</summary>
    NoSuchPoint,

    /// <summary>
    /// The environment is encrypted, and neither a key for its backup nor permission for an unencrypted one was given.
    /// </summary>
    PlainNotAllowed,
}
