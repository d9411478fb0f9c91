using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Plans;

/// <summary>Enforces the budget of a running query. Error messages name the limit and the step that spent most.</summary>
internal sealed class QueryLimits(QueryBudget budget, PlanTracer tracer, TimeProvider clock)
{
    private readonly long _started = clock.GetTimestamp();

    public void Check(QueryCounters spent)
    {
        if (budget.Pages is { } pages && spent.PagesRead > pages)
            throw Exceeded(
                $"{pages:N0} pages", $"{spent.PagesRead:N0} were read", tracer.Costliest(static count => count.PagesRead));
        if (budget.Entries is { } entries && spent.EntriesScanned > entries)
            throw Exceeded(
                $"{entries:N0} entries", $"{spent.EntriesScanned:N0} were examined",
                tracer.Costliest(static count => count.EntriesScanned));
        if (budget.Time is { } time && clock.GetElapsedTime(_started) is var elapsed && elapsed > time)
            throw Exceeded(
                $"{time.TotalMilliseconds:0.###} ms", $"{elapsed.TotalMilliseconds:0.#} ms have passed",
                tracer.Costliest(static count => count.BlocksDecoded + count.EntriesScanned + count.TermsScanned));
    }

    private static QueryBudgetExceededException Exceeded(string budget, string spent, (string Name, long Spent) step) => new(
        $"The query was stopped: its budget of {budget} is spent ({spent}). Most was spent by: {step.Name} ({step.Spent:N0}). "
            + $"Narrow the condition, or allow more.");
}
