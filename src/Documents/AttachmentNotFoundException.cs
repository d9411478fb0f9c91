namespace Treepie;

/// <summary>An attachment that was to be copied or moved does not exist. Nothing was changed.</summary>
public sealed class AttachmentNotFoundException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public AttachmentNotFoundException(string documentId, string name)
        : base(
            $"Document '{documentId}' has no attachment '{name}'. Nothing of the batch was written. Name one that its "
                + $"@attachments lists.")
    {
        DocumentId = documentId;
        Name = name;
    }

    /// <summary>Id of the document.</summary>
    public string DocumentId { get; }

    /// <summary>Name of the attachment.</summary>
    public string Name { get; }
}
