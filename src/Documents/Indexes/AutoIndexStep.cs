using Treepie.Indexes.Definitions;

namespace Treepie.Indexes;

/// <summary>The decision for a query that names no index.</summary>
/// <param name="Indexer">The index that answers; null if one has to be created.</param>
/// <param name="Definition">The definition to create, or to widen the index to; null if the index stays as it is.</param>
/// <param name="Retired">The indexes to remove.</param>
internal readonly record struct AutoIndexStep(
    DocumentIndexer? Indexer, IndexMapping? Definition, IReadOnlyList<DocumentIndexer> Retired);
