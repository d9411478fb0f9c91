namespace Treepie.Writes;

/// <summary>What is done to one value of a document.</summary>
internal enum MemberEditKind
{
    /// <summary>It becomes another.</summary>
    Set,

    /// <summary>A number is added to it; nothing counts as 0.</summary>
    Increment,

    /// <summary>Values are added behind its elements; nothing counts as no elements.</summary>
    Append,

    /// <summary>One of its elements goes.</summary>
    RemoveAt,

    /// <summary>Its elements that equal a value go.</summary>
    RemoveEqual,
}
