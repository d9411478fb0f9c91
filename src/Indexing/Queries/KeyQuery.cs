namespace Treepie.Indexing.Queries;

/// <summary>
/// Matches entries by the keys under which they were put. Needs no field: an index finds its entries by key to update them. A key
/// ends for this where it has the byte 0xFF, which is in no text: what follows tells several entries of one owner apart.
/// </summary>
/// <param name="Keys">The keys, in any order; duplicates count once.</param>
/// <param name="IsPrefix">Whether the keys are prefixes.</param>
public sealed record KeyQuery(IReadOnlyList<string> Keys, bool IsPrefix = false) : IndexQuery;
