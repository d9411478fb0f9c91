namespace Treepie.Indexing.Queries;

/// <summary>
/// The limits of a query; null: unlimited. Checked between windows, every thousand terms and at the end: a query is stopped
/// slightly above a limit, and one that succeeds has not exceeded it. Limits of pages and entries are deterministic: the same
/// query on the same view is always stopped, or never.
/// </summary>
/// <param name="Pages">The maximum of <see cref="QueryCounters.PagesRead"/>, at least 1.</param>
/// <param name="Entries">The maximum of <see cref="QueryCounters.EntriesScanned"/>, at least 1.</param>
/// <param name="Time">The maximum time for finding the hits, without reading them.</param>
public sealed record QueryBudget(long? Pages = null, long? Entries = null, TimeSpan? Time = null)
{
    /// <summary>Validates the limits.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A limit is 0 or less.</exception>
    public void Check()
    {
        if (Pages is <= 0)
            throw new ArgumentOutOfRangeException(
                nameof(Pages), $"A budget of {Pages} pages allows nothing: the least limit is 1, and null is no limit.");
        if (Entries is <= 0)
            throw new ArgumentOutOfRangeException(
                nameof(Entries),
                $"A budget of {Entries} entries allows nothing: the least limit is 1, and null is no limit.");
        if (Time is { } time && time <= TimeSpan.Zero)
            throw new ArgumentOutOfRangeException(
                nameof(Time), $"A budget of {time} allows nothing: the time must be above 0, and null is no limit.");
    }
}
