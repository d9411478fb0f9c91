namespace Treepie.Indexing.Queries;

/// <summary>
/// Matches entries whose keys are in a range, in the order of their bytes. Where a key ends, see <see cref="KeyQuery"/>.
/// </summary>
/// <param name="Low">The lower bound, or null if there is none.</param>
/// <param name="LowInclusive">Whether the lower bound itself matches.</param>
/// <param name="High">The upper bound, or null if there is none.</param>
/// <param name="HighInclusive">Whether the upper bound itself matches.</param>
public sealed record KeyRangeQuery(string? Low, bool LowInclusive, string? High, bool HighInclusive) : IndexQuery;
