namespace Treepie.Storage;

/// <summary>The result of a salvage.</summary>
public sealed record SalvageReport
{
    /// <summary>The transaction whose state was salvaged; -1 if no state is known and only individual pages were found.</summary>
    public required long TransactionId { get; init; }

    /// <summary>The results for each tree and map.</summary>
    public required IReadOnlyList<SalvagedTree> Trees { get; init; }

    /// <summary>The problems of the source, up to the first thousand.</summary>
    public required IReadOnlyList<CheckProblem> Problems { get; init; }

    /// <summary>The number of problems, including those beyond the listed ones.</summary>
    public required long ProblemCount { get; init; }

    /// <summary>Whether everything was recovered and nothing is doubtful.</summary>
    public bool IsComplete => ProblemCount == 0 && Trees.All(tree => tree.IsComplete);
}
