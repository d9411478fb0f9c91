namespace Treepie.Computations;

/// <summary>The texts of an index that computes.</summary>
/// <param name="IndexName">The index, for messages.</param>
/// <param name="AdditionalSources">Further code that the texts may call, by name.</param>
internal sealed record IndexTexts(string IndexName, IReadOnlyDictionary<string, string> AdditionalSources);
