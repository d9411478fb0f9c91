namespace Treepie.Storage;

/// <summary>What a walk over a whole environment found.</summary>
/// <param name="Pages">Pages seen.</param>
/// <param name="FreePages">Pages that are free.</param>
/// <param name="Problems">One sentence for each fault; empty when all is well.</param>
public sealed record CheckReport(long Pages, long FreePages, IReadOnlyList<string> Problems)
{
    /// <summary>True when nothing is wrong.</summary>
    public bool IsClean => Problems.Count == 0;
}
