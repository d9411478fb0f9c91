namespace Treepie.CommandLine.Import;

/// <summary>A line that cannot be imported.</summary>
/// <param name="Line">Line number, from 1.</param>
/// <param name="Message">The reason, for users.</param>
internal sealed record LineProblem(long Line, string Message);
