namespace Treepie;

/// <summary>The definition of a sorter is not valid. Nothing was changed.</summary>
public sealed class InvalidSorterException : TreepieException
{
    /// <summary>Creates the error.</summary>
    /// <param name="sorterName">The sorter.</param>
    /// <param name="problem">What is wrong and what to do.</param>
    public InvalidSorterException(string sorterName, string problem)
        : base($"The sorter '{sorterName}' is refused: {problem}") => SorterName = sorterName;

    /// <summary>The sorter.</summary>
    public string SorterName { get; }
}
