namespace Treepie.CommandLine.Queries;

/// <summary>Names that a query may contain.</summary>
/// <param name="Collections">Names of the collections.</param>
/// <param name="Indexes">Names of the indexes.</param>
internal sealed record QueryNames(IReadOnlyList<string> Collections, IReadOnlyList<string> Indexes);
