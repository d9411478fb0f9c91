namespace Treepie.Writes;

/// <summary>What a patch did.</summary>
public enum PatchStatus
{
    /// <summary>There is no such document.</summary>
    DocumentDoesNotExist,

    /// <summary>It was made.</summary>
    Created,

    /// <summary>It was changed.</summary>
    Patched,

    /// <summary>It has another change vector.</summary>
    Skipped,

    /// <summary>The script left it as it was.</summary>
    NotModified,
}
