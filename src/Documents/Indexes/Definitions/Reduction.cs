using Treepie.Computations;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// What an index computes where it does not index documents but groups: a map of documents to objects, and a reduce of the
/// objects of a group.
/// </summary>
/// <param name="Map">The map.</param>
/// <param name="Reduce">The reduce.</param>
internal sealed record Reduction(IndexMap Map, IndexReduce Reduce);
