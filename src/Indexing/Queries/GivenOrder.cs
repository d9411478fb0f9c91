namespace Treepie.Indexing.Queries;

/// <summary>An order by values that are given with the query instead of being read from the index.</summary>
/// <param name="Values">
/// The values by <see cref="SearchResults.EntryId"/>; an entry without a value counts as null. Texts are in the form in which
/// they are compared.
/// </param>
/// <param name="As">
/// How values are compared: as texts, with or without runs of digits as numbers, as integers or as doubles. Null: numbers as
/// numbers, and texts after them.
/// </param>
public sealed record GivenOrder(IReadOnlyDictionary<long, FieldValue> Values, SortKind? As = null);
