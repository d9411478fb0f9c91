namespace Treepie.Storage;

/// <summary>What a walk over a whole environment found.</summary>
public sealed record CheckReport
{
    /// <summary>Transaction whose state was walked; -1 where no state could be read.</summary>
    public required long TransactionId { get; init; }

    /// <summary>Pages of the data file that were ever given out, counted from 0.</summary>
    public required long Pages { get; init; }

    /// <summary>How many of them can be given out again.</summary>
    public required long FreePages { get; init; }

    /// <summary>Trees and maps walked, the store's own among them.</summary>
    public required int Trees { get; init; }

    /// <summary>Keys seen in them.</summary>
    public required long Keys { get; init; }

    /// <summary>Named snapshots walked.</summary>
    public required int Snapshots { get; init; }

    /// <summary>Frames of the journal that were read again, each with its hash and its place in the chain.</summary>
    public required long JournalFrames { get; init; }

    /// <summary>The faults, in the order they were found; no more than the first thousand.</summary>
    public required IReadOnlyList<CheckProblem> Problems { get; init; }

    /// <summary>How many faults there are, those beyond the listed ones too.</summary>
    public required long ProblemCount { get; init; }

    /// <summary>True when nothing is wrong.</summary>
    public bool IsClean => ProblemCount == 0;
}
