namespace Treepie.Indexing.Queries;

/// <summary>
/// The best of several searches in one list, of words and of vectors for instance. Each clause gives its best entries; an entry
/// scores by its places in these lists, or by its scores there. In an <see cref="AndQuery"/> the clauses look among the entries
/// that the others leave.
/// </summary>
/// <param name="Clauses">The searches, with their weights.</param>
/// <param name="Method">How their lists become one.</param>
/// <param name="Window">Entries that each clause gives, 1 to <see cref="MaxWindow"/>.</param>
public sealed record FusionQuery(IReadOnlyList<FusionClause> Clauses, FusionMethod Method, int Window = FusionQuery.DefaultWindow)
    : IndexQuery
{
    /// <summary>Entries of each list where nothing is said.</summary>
    public const int DefaultWindow = 100;

    /// <summary>Most entries of a list.</summary>
    public const int MaxWindow = 16_384;

    /// <summary>Most clauses.</summary>
    public const int MaxClauses = 64;

    /// <summary>What is added to the place of an entry in a list: the greater, the less the first places count.</summary>
    public const int RankConstant = 60;
}

/// <summary>One search of a fusion.</summary>
/// <param name="Query">The search.</param>
/// <param name="Weight">How much it counts; greater than 0.</param>
public sealed record FusionClause(IndexQuery Query, float Weight = 1);

/// <summary>How lists become one.</summary>
public enum FusionMethod
{
    /// <summary>An entry scores the sum of <c>weight / (60 + place)</c> over the lists it is in, places counted from 1.</summary>
    ReciprocalRank,

    /// <summary>
    /// An entry scores the sum of <c>weight · score</c>, the scores of each list being brought to 0 (its worst) to 1 (its best).
    /// </summary>
    Weighted,
}
