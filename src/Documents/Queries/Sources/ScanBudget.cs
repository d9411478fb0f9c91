using Treepie.Indexing.Queries;
using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>
/// Enforces the budget of a query that uses no index: examined documents count as entries, and the time limit covers finding
/// results but not reading them.
/// </summary>
/// <param name="budget">The budget.</param>
/// <param name="snapshot">The snapshot that is scanned.</param>
/// <param name="clock">The clock.</param>
internal sealed class ScanBudget(QueryBudget budget, DatabaseSnapshot snapshot, TimeProvider clock)
{
    private readonly long _pagesBefore = snapshot.PageVisits;
    private TimeSpan _spent;
    private long _started;
    private long _documents;

    /// <summary>Starts measuring time.</summary>
    public void Resume() => _started = clock.GetTimestamp();

    /// <summary>Stops measuring time.</summary>
    public void Pause() => _spent += clock.GetElapsedTime(_started);

    /// <summary>Counts an examined document.</summary>
    /// <exception cref="InvalidQueryException">The budget is exceeded.</exception>
    public void Take()
    {
        _documents++;
        if (budget.Entries is { } entries && _documents > entries)
            throw Exceeded($"{entries:N0} entries", $"{_documents:N0} were looked at");
        if (budget.Pages is { } pages && snapshot.PageVisits - _pagesBefore is var read && read > pages)
            throw Exceeded($"{pages:N0} pages", $"{read:N0} were read");
        if (budget.Time is { } time && _spent + clock.GetElapsedTime(_started) is var elapsed && elapsed > time)
            throw Exceeded($"{time.TotalMilliseconds:0.###} ms", $"{elapsed.TotalMilliseconds:0.#} ms are over");
    }

    private InvalidQueryException Exceeded(string limit, string spent) => new(
        $"The query was stopped: its budget of {limit} is spent ({spent}). "
        + $"Most was spent by: scan of documents ({_documents:N0}). Narrow the condition, or allow more.");
}
