namespace Treepie;

/// <summary>
/// Thrown when the definition of an analyzer is not valid, or when an analyzer cannot be deleted. Nothing was changed.
/// </summary>
public sealed class InvalidAnalyzerException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="analyzerName">The name of the analyzer.</param>
    /// <param name="problem">The problem and what to do about it.</param>
    public InvalidAnalyzerException(string analyzerName, string problem)
        : base($"The analyzer '{analyzerName}' is refused: {problem}") => AnalyzerName = analyzerName;

    /// <summary>The name of the analyzer.</summary>
    public string AnalyzerName { get; }
}
