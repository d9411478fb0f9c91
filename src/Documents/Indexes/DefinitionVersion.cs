namespace Treepie.Indexes;

/// <summary>A current or past definition of an index.</summary>
/// <param name="CreatedAt">When the definition was stored (UTC).</param>
/// <param name="Definition">The definition.</param>
public sealed record DefinitionVersion(DateTime CreatedAt, IndexDefinition Definition);
