namespace Treepie.Indexing.Queries;

/// <summary>
/// The most a query may spend; null: as much as it needs. It is checked between windows, every thousand terms and at the end: a
/// query is stopped a little above it, and what is answered has not spent more. Pages and entries are counted, so that the same
/// query is stopped on every run against the same view, or on none.
/// </summary>
/// <param name="Pages">Most <see cref="QueryCounters.PagesRead"/>, from 1 on.</param>
/// <param name="Entries">Most <see cref="QueryCounters.EntriesScanned"/>, from 1 on.</param>
/// <param name="Time">Most time for finding the hits; reading them is not counted.</param>
public sealed record QueryBudget(long? Pages = null, long? Entries = null, TimeSpan? Time = null)
{
    /// <summary>Refuses budgets that nothing could be done with.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A limit is 0 or below.</exception>
    public void Check()
    {
        if (Pages is <= 0)
            throw new ArgumentOutOfRangeException(
                nameof(Pages), $"A budget of {Pages} pages allows nothing: pages are limited from 1 on, null is no limit.");
        if (Entries is <= 0)
            throw new ArgumentOutOfRangeException(
                nameof(Entries),
                $"A budget of {Entries} entries allows nothing: entries are limited from 1 on, null is no limit.");
        if (Time is { } time && time <= TimeSpan.Zero)
            throw new ArgumentOutOfRangeException(
                nameof(Time), $"A budget of {time} allows nothing: a time above 0 is one, null is no limit.");
    }
}
