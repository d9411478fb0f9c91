namespace Treepie.Queries.Filters;

/// <summary>
/// The time that filters and computed values of a query take together, without a script, which is limited; looked at among the
/// elements of one document too. Not thread-safe.
/// </summary>
/// <param name="clock">The clock.</param>
/// <param name="longest">The limit.</param>
/// <param name="cancellationToken">Cancels the query.</param>
internal sealed class ExaminationTime(TimeProvider clock, TimeSpan longest, CancellationToken cancellationToken)
{
    private long _begun;
    private TimeSpan _spent;

    /// <summary>Begins to look at a document.</summary>
    public void Begin()
    {
        _begun = clock.GetTimestamp();
        if (_spent > longest)
            throw Exceeded();
    }

    /// <summary>Ends what <see cref="Begin"/> began.</summary>
    public void End() => _spent += clock.GetElapsedTime(_begun);

    /// <summary>Looks at the limit while a document is looked at.</summary>
    /// <exception cref="OperationCanceledException">The query was cancelled.</exception>
    /// <exception cref="TimeoutException">The time is spent.</exception>
    public void Check()
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (_spent + clock.GetElapsedTime(_begun) > longest)
            throw Exceeded();
    }

    private TimeoutException Exceeded() => new(
        $"What the query looks at in documents was not finished within {longest.TotalSeconds:0.#} seconds (MaxQueryTime). Narrow "
            + "its condition, give 'filter' a 'filter_limit', or let an index compute it.");
}
