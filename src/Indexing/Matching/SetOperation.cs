namespace Treepie.Indexing.Matching;

/// <summary>What a set of a window's entries is combined with another one by.</summary>
internal enum SetOperation
{
    /// <summary>Keeps the members that the other set has.</summary>
    And,

    /// <summary>Adds the members of the other set.</summary>
    Or,

    /// <summary>Removes the members of the other set.</summary>
    AndNot,
}
