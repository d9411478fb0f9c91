namespace Treepie.Indexes;

/// <summary>An analyzer that is kept with a database.</summary>
/// <param name="Name">1 to 256 letters, digits, <c>_</c>, <c>-</c> and dots; found without case, as fields of indexes name
/// it.</param>
/// <param name="Code">Its parts as JSON, see <see cref="Treepie.Indexing.Analysis.Parts.AnalyzerParts"/>.</param>
public sealed record AnalyzerDefinition(string Name, string Code);
