namespace Treepie.CommandLine.Queries;

/// <summary>A query as it was given.</summary>
/// <param name="Rql">The text.</param>
/// <param name="Parameters">A JSON object of parameters; null: none.</param>
/// <param name="WaitSeconds">How long to wait for its index; null: not at all.</param>
internal sealed record QueryText(string Rql, string? Parameters = null, int? WaitSeconds = null);
