namespace Treepie;

/// <summary>The definition of an analyzer is not valid, or the analyzer cannot go. Nothing was changed.</summary>
public sealed class InvalidAnalyzerException : TreepieException
{
    /// <summary>Creates the error.</summary>
    /// <param name="analyzerName">The analyzer.</param>
    /// <param name="problem">What is wrong and what to do.</param>
    public InvalidAnalyzerException(string analyzerName, string problem)
        : base($"The analyzer '{analyzerName}' is refused: {problem}") => AnalyzerName = analyzerName;

    /// <summary>The analyzer.</summary>
    public string AnalyzerName { get; }
}
