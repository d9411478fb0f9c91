namespace Treepie.Indexes;

/// <summary>A custom analyzer stored in a database.</summary>
/// <param name="Name">The name that fields of indexes refer to: 1 to 256 letters, digits, <c>_</c>, <c>-</c> and dots,
/// case-insensitive.</param>
/// <param name="Code">The parts of the analyzer as JSON; see <see cref="Treepie.Indexing.Analysis.Parts.AnalyzerParts"/>.</param>
public sealed record AnalyzerDefinition(string Name, string Code);
