namespace Treepie.Indexes;

/// <summary>A group of a map-reduce index, with the tree of partial results from which its result was computed.</summary>
/// <param name="Key">The values of its key as JSON; if they are long, the first bytes of their hash.</param>
/// <param name="Root">The root of the tree: it has the result of the group.</param>
/// <param name="IsCut">Whether nodes of the tree, or groups after this one, are left out because they are many or large.</param>
public sealed record ReducedGroup(string Key, PartialResult Root, bool IsCut);

/// <summary>A node of the tree of partial results of a group.</summary>
/// <param name="Count">The number of mapped results below it.</param>
/// <param name="Results">The JSON objects to which they were reduced; usually one.</param>
/// <param name="Error">Why they could not be reduced; null if they were.</param>
/// <param name="Children">The nodes below it that have mapped results; empty for a leaf.</param>
public sealed record PartialResult(
    long Count, IReadOnlyList<string> Results, string? Error, IReadOnlyList<PartialResult> Children);
