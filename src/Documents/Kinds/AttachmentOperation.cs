namespace Treepie.Kinds;

/// <summary>Operations on attachments.</summary>
public enum AttachmentOperation
{
    /// <summary>Stores the attachment.</summary>
    Put,

    /// <summary>Deletes the attachment.</summary>
    Delete,

    /// <summary>Copies the attachment to another name or document.</summary>
    Copy,

    /// <summary>Moves the attachment to another name or document.</summary>
    Move,
}
