namespace Treepie.Computations;

/// <summary>The source code of an index that computes.</summary>
/// <param name="IndexName">The name of the index, for messages.</param>
/// <param name="AdditionalSources">Additional sources whose functions may be called, by name.</param>
internal sealed record IndexTexts(string IndexName, IReadOnlyDictionary<string, string> AdditionalSources);
