using Treepie.Computations;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// The computation of a map-reduce index: a map of documents to objects, and a reduce of the objects of a group.
/// </summary>
/// <param name="Map">The map.</param>
/// <param name="Reduce">The reduce.</param>
internal sealed record Reduction(IndexMap Map, IndexReduce Reduce);
