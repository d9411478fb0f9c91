using Treepie.Indexing.Queries;
using Treepie.Queries.Projecting;

namespace Treepie.Queries.Binding;

/// <summary>A key of the order whose values no index has: they are read of each result.</summary>
/// <param name="Place">Its place in the order.</param>
/// <param name="Value">The value.</param>
/// <param name="As">How values are compared; null: numbers as numbers, and texts after them.</param>
internal sealed record ExaminedKey(int Place, ProjectedField Value, SortKind? As);
