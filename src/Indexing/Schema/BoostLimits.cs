namespace Treepie.Indexing.Schema;

/// <summary>
/// The limits of boosts. A score is the product of three boosts and of the BM25 score, which is at least about 1e-16 and, summed
/// over all words of a query, at most about 1e6; within these limits it is a normal single-precision number. Beyond them, scores
/// would round to 0 or become infinite, and the upper bounds that allow a ranking to stop early would round below the scores they
/// bound: the order would depend on rounding.
/// </summary>
public static class BoostLimits
{
    /// <summary>The minimum product of nested boosts in a query; 0 is allowed as well, and counts as 0.</summary>
    public const float LeastOfQuery = 1e-9f;

    /// <summary>The maximum product of nested boosts in a query.</summary>
    public const float MostOfQuery = 1e12f;

    /// <summary>The minimum boost of a field.</summary>
    public const float LeastOfField = 1e-6f;

    /// <summary>The maximum boost of a field.</summary>
    public const float MostOfField = 1e6f;

    /// <summary>
    /// The minimum boost of an entry; smaller numbers in the boost field count as this one.
    /// </summary>
    public const float LeastOfEntry = 1e-6f;

    /// <summary>
    /// The maximum boost of an entry; greater numbers in the boost field count as this one.
    /// </summary>
    public const float MostOfEntry = 1e12f;

    /// <summary>Returns whether the product of a query's boosts is within the limits.</summary>
    public static bool IsOfQuery(float boost) => boost is 0 or (>= LeastOfQuery and <= MostOfQuery);

    /// <summary>Returns whether the boost of a field is within the limits.</summary>
    public static bool IsOfField(float boost) => boost is >= LeastOfField and <= MostOfField;

    /// <summary>Returns whether the boost of an entry is within the limits.</summary>
    public static bool IsOfEntry(double boost) => boost is >= LeastOfEntry and <= MostOfEntry;

    /// <summary>What a number in the field of boosts counts as.</summary>
    internal static float OfEntry(double number) => number > LeastOfEntry ? (float)Math.Min(number, MostOfEntry) : LeastOfEntry;
}
