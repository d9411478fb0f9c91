namespace Treepie.Queries.Filters;

/// <summary>
/// Limits the time that a query spends on evaluating conditions and computed values on documents, apart from scripts, which have
/// limits of their own. Also checked between the elements of one document. Not thread-safe.
/// </summary>
/// <param name="clock">The clock.</param>
/// <param name="longest">The limit.</param>
/// <param name="cancellationToken">Cancels the query.</param>
internal sealed class ExaminationTime(TimeProvider clock, TimeSpan longest, CancellationToken cancellationToken)
{
    private long _begun;
    private TimeSpan _spent;

    /// <summary>Starts the clock for a document.</summary>
    public void Begin()
    {
        _begun = clock.GetTimestamp();
        if (_spent > longest)
            throw Exceeded();
    }

    /// <summary>Stops the clock.</summary>
    public void End() => _spent += clock.GetElapsedTime(_begun);

    /// <summary>Checks the limit within a document.</summary>
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
