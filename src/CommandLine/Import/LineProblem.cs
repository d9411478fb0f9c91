namespace Treepie.CommandLine.Import;

/// <summary>A line that cannot be imported.</summary>
/// <param name="Line">Its number, from 1.</param>
/// <param name="Message">Why, for people.</param>
internal sealed record LineProblem(long Line, string Message);
