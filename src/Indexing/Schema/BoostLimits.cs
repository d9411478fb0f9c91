namespace Treepie.Indexing.Schema;

/// <summary>
/// How small and how great boosts may be. A score is a product of three of them and of what BM25 gives, at least about 1e-16 and,
/// summed over all words of a query, at most about 1e6; within these limits it is a normal number of single precision. Beyond,
/// scores would round to 0 or become infinite, and the bounds that let a ranking stop early would round to less than the scores
/// they bound: what comes first would depend on the rounding.
/// </summary>
public static class BoostLimits
{
    /// <summary>The least that boosts around one another in a query may come to; 0 may stand, and counts as 0.</summary>
    public const float LeastOfQuery = 1e-9f;

    /// <summary>The most that boosts around one another in a query may come to.</summary>
    public const float MostOfQuery = 1e12f;

    /// <summary>The least boost of a field.</summary>
    public const float LeastOfField = 1e-6f;

    /// <summary>The greatest boost of a field.</summary>
    public const float MostOfField = 1e6f;

    /// <summary>
    /// The least boost that an entry has of its own; a lesser number in the field of boosts counts as this one.
    /// </summary>
    public const float LeastOfEntry = 1e-6f;

    /// <summary>
    /// The greatest boost that an entry has of its own; a greater number in the field of boosts counts as this one.
    /// </summary>
    public const float MostOfEntry = 1e12f;

    /// <summary>Whether boosts of a query come to what may be.</summary>
    public static bool IsOfQuery(float boost) => boost is 0 or (>= LeastOfQuery and <= MostOfQuery);

    /// <summary>Whether a field may have the boost.</summary>
    public static bool IsOfField(float boost) => boost is >= LeastOfField and <= MostOfField;

    /// <summary>Whether an entry may have the boost.</summary>
    public static bool IsOfEntry(double boost) => boost is >= LeastOfEntry and <= MostOfEntry;

    /// <summary>What a number in the field of boosts counts as.</summary>
    internal static float OfEntry(double number) => number > LeastOfEntry ? (float)Math.Min(number, MostOfEntry) : LeastOfEntry;
}
