namespace Treepie.Writes;

/// <summary>The kinds of changes of one value of a document.</summary>
internal enum MemberEditKind
{
    /// <summary>Sets the value.</summary>
    Set,

    /// <summary>Adds a number; a missing value counts as 0.</summary>
    Increment,

    /// <summary>Appends elements; a missing array counts as empty.</summary>
    Append,

    /// <summary>Removes the element at an index.</summary>
    RemoveAt,

    /// <summary>Removes the elements that equal a value.</summary>
    RemoveEqual,
}
