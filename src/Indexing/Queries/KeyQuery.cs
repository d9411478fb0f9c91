namespace Treepie.Indexing.Queries;

/// <summary>
/// Matches entries by the keys under which they were put. Needs no field: an index finds its entries by key to update them.
/// </summary>
/// <param name="Keys">The keys, in any order; duplicates count once.</param>
/// <param name="IsPrefix">Whether the keys are prefixes.</param>
public sealed record KeyQuery(IReadOnlyList<string> Keys, bool IsPrefix = false) : IndexQuery;
