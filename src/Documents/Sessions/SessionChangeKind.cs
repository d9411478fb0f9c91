namespace Treepie.Sessions;

/// <summary>Kinds of <see cref="SessionChange"/>.</summary>
public enum SessionChangeKind
{
    /// <summary>The document is new.</summary>
    DocumentAdded,

    /// <summary>The document goes.</summary>
    DocumentDeleted,

    /// <summary>A member, or an element of an array, is new.</summary>
    Added,

    /// <summary>A member, or an element of an array, goes.</summary>
    Removed,

    /// <summary>A value changes.</summary>
    Changed,
}
