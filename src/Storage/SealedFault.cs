namespace Treepie.Storage;

/// <summary>The kinds of errors of an encrypted stream.</summary>
public enum SealedFault
{
    /// <summary>It does not start with the header of an encrypted stream.</summary>
    NotSealed,

    /// <summary>It was written by a newer version.</summary>
    Newer,

    /// <summary>Its header is corrupted.</summary>
    HeaderDamaged,

    /// <summary>Its header was tampered with, and its checksum adjusted.</summary>
    HeaderForged,

    /// <summary>It is truncated.</summary>
    CutOff,

    /// <summary>A chunk is corrupted.</summary>
    ChunkDamaged,

    /// <summary>A chunk is out of place: reordered, repeated or missing.</summary>
    ChunkMisplaced,

    /// <summary>A chunk belongs to another stream.</summary>
    ChunkForeign,

    /// <summary>There is data after the last chunk.</summary>
    Appended,
}
