namespace Treepie.Indexing.Queries;

/// <summary>
/// Entries by the keys under which they were put. No field is needed for it: an index finds its entries by key to update them.
/// </summary>
/// <param name="Keys">The keys; in any order, none twice counted twice.</param>
/// <param name="IsPrefix">Whether a key that begins with one of them will do.</param>
public sealed record KeyQuery(IReadOnlyList<string> Keys, bool IsPrefix = false) : IndexQuery;
