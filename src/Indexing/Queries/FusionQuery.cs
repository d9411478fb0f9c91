namespace Treepie.Indexing.Queries;

/// <summary>
/// Merges the best results of several searches, such as full-text and vector search, into one list. Each clause contributes its
/// best entries; an entry is scored by its ranks in these lists, or by its scores there. In an <see cref="AndQuery"/>, the
/// clauses search only the entries that match the other conditions.
/// </summary>
/// <param name="Clauses">The searches, with their weights.</param>
/// <param name="Method">How the lists are merged.</param>
/// <param name="Window">The number of entries that each clause contributes, 1 to <see cref="MaxWindow"/>.</param>
public sealed record FusionQuery(IReadOnlyList<FusionClause> Clauses, FusionMethod Method, int Window = FusionQuery.DefaultWindow)
    : IndexQuery
{
    /// <summary>The default number of entries per clause.</summary>
    public const int DefaultWindow = 100;

    /// <summary>The maximum number of entries per clause.</summary>
    public const int MaxWindow = 16_384;

    /// <summary>The maximum number of clauses.</summary>
    public const int MaxClauses = 64;

    /// <summary>
    /// The constant added to the rank of an entry in a list: the greater it is, the less the first ranks count.
    /// </summary>
    public const int RankConstant = 60;
}

/// <summary>One search of a fusion.</summary>
/// <param name="Query">The search.</param>
/// <param name="Weight">The weight; greater than 0.</param>
public sealed record FusionClause(IndexQuery Query, float Weight = 1);

/// <summary>How lists are merged.</summary>
public enum FusionMethod
{
    /// <summary>
    /// The score is the sum of <c>weight / (60 + rank)</c> over the lists that contain the entry; ranks start at 1.
    /// </summary>
    ReciprocalRank,

    /// <summary>
    /// The score is the sum of <c>weight · score</c>, with the scores of each list normalized to 0 (the worst) to 1 (the best).
    /// </summary>
    Weighted,
}
