namespace Treepie.CommandLine.Queries;

/// <summary>A query as given by the user.</summary>
/// <param name="Rql">The text.</param>
/// <param name="Parameters">Query parameters as a JSON object, or null for none.</param>
/// <param name="WaitSeconds">How long to wait for the index, or null not to wait.</param>
internal sealed record QueryText(string Rql, string? Parameters = null, int? WaitSeconds = null);
