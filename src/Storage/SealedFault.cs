namespace Treepie.Storage;

/// <summary>What is wrong with a sealed stream.</summary>
public enum SealedFault
{
    /// <summary>It does not begin as one does.</summary>
    NotSealed,

    /// <summary>A newer program wrote it.</summary>
    Newer,

    /// <summary>Its header is damaged by accident.</summary>
    HeaderDamaged,

    /// <summary>Its header was changed by somebody who saw to it that it looks undamaged.</summary>
    HeaderForged,

    /// <summary>It ends too early.</summary>
    CutOff,

    /// <summary>The bytes of a chunk are not those that were written.</summary>
    ChunkDamaged,

    /// <summary>A chunk stands where another belongs: reordered, repeated or left out.</summary>
    ChunkMisplaced,

    /// <summary>A chunk of another stream.</summary>
    ChunkForeign,

    /// <summary>Something follows its last chunk.</summary>
    Appended,
}
