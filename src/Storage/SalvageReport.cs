namespace Treepie.Storage;

/// <summary>What a salvage brought back, and what not.</summary>
public sealed record SalvageReport
{
    /// <summary>Transaction whose state was salvaged; -1 where no state is known and only single pages were found.</summary>
    public required long TransactionId { get; init; }

    /// <summary>Each tree and map.</summary>
    public required IReadOnlyList<SalvagedTree> Trees { get; init; }

    /// <summary>What is wrong with the source, up to the first thousand faults.</summary>
    public required IReadOnlyList<CheckProblem> Problems { get; init; }

    /// <summary>How many faults there are, those beyond the listed ones too.</summary>
    public required long ProblemCount { get; init; }

    /// <summary>True when everything came back and nothing of it is in doubt.</summary>
    public bool IsComplete => ProblemCount == 0 && Trees.All(tree => tree.IsComplete);
}
