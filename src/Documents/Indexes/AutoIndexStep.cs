using Treepie.Indexes.Definitions;

namespace Treepie.Indexes;

/// <summary>What is done so that a query that names no index has one.</summary>
/// <param name="Indexer">The index that answers; null: one that has to be made.</param>
/// <param name="Definition">What is made, or what the index is widened to; null where it stays as it is.</param>
/// <param name="Retired">Indexes that go.</param>
internal readonly record struct AutoIndexStep(
    DocumentIndexer? Indexer, IndexMapping? Definition, IReadOnlyList<DocumentIndexer> Retired);
