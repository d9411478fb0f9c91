namespace Treepie.Writes;

/// <summary>The outcome of a patch.</summary>
public enum PatchStatus
{
    /// <summary>The document does not exist.</summary>
    DocumentDoesNotExist,

    /// <summary>The document was created.</summary>
    Created,

    /// <summary>The document was changed.</summary>
    Patched,

    /// <summary>The document was skipped because it has another change vector.</summary>
    Skipped,

    /// <summary>The script did not change the document.</summary>
    NotModified,
}
