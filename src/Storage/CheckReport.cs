namespace Treepie.Storage;

/// <summary>The result of a check of an environment.</summary>
public sealed record CheckReport
{
    /// <summary>The transaction whose state was checked; -1 if no state could be read.</summary>
    public required long TransactionId { get; init; }

    /// <summary>The number of pages of the data file that were ever allocated, counted from 0.</summary>
    public required long Pages { get; init; }

    /// <summary>The number of them that are free.</summary>
    public required long FreePages { get; init; }

    /// <summary>The number of trees and maps checked, including internal ones.</summary>
    public required int Trees { get; init; }

    /// <summary>The number of keys in them.</summary>
    public required long Keys { get; init; }

    /// <summary>The number of named snapshots checked.</summary>
    public required int Snapshots { get; init; }

    /// <summary>The number of journal frames verified, each with its hash and its place in the chain.</summary>
    public required long JournalFrames { get; init; }

    /// <summary>The problems, in the order in which they were found; at most the first thousand.</summary>
    public required IReadOnlyList<CheckProblem> Problems { get; init; }

    /// <summary>The number of problems, including those beyond the listed ones.</summary>
    public required long ProblemCount { get; init; }

    /// <summary>Whether no problems were found.</summary>
    public bool IsClean => ProblemCount == 0;
}
