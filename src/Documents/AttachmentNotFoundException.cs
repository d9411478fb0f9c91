namespace Treepie;

/// <summary>Thrown when an attachment to be copied or moved does not exist. Nothing was changed.</summary>
public sealed class AttachmentNotFoundException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public AttachmentNotFoundException(string documentId, string name)
        : base(
            $"Document '{documentId}' has no attachment '{name}'. Nothing of the batch was written. Name one that its "
                + $"@attachments lists.")
    {
        DocumentId = documentId;
        Name = name;
    }

    /// <summary>The id of the document.</summary>
    public string DocumentId { get; }

    /// <summary>The name of the attachment.</summary>
    public string Name { get; }
}
