namespace Treepie.Kinds;

/// <summary>What a command does with an attachment.</summary>
public enum AttachmentOperation
{
    /// <summary>Puts it.</summary>
    Put,

    /// <summary>Deletes it.</summary>
    Delete,

    /// <summary>Puts the same under another name, or beside another document.</summary>
    Copy,

    /// <summary>As a copy, and deletes it where it was.</summary>
    Move,
}
