namespace Treepie.Indexes;

/// <summary>A definition that an index had, or has.</summary>
/// <param name="CreatedAt">When it was put (UTC).</param>
/// <param name="Definition">The definition.</param>
public sealed record DefinitionVersion(DateTime CreatedAt, IndexDefinition Definition);
