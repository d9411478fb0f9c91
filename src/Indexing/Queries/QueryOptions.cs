namespace Treepie.Indexing.Queries;

/// <summary>Options of the execution of a query that do not affect its results: the level of its plan, and its budget.</summary>
public sealed record QueryOptions
{
    /// <summary>The level of detail of the plan.</summary>
    public PlanDetail Plan { get; init; }

    /// <summary>The limits of the query. Null: unlimited.</summary>
    public QueryBudget? Budget { get; init; }

    /// <summary>The clock for times and budgets.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    /// <summary>Plans to use whatever they cost, for tests that compare the alternatives.</summary>
    internal PlanHints Hints { get; init; } = PlanHints.None;
}

/// <summary>The levels of detail of a plan.</summary>
public enum PlanDetail
{
    /// <summary>No plan: only the counters of the whole query.</summary>
    None,

    /// <summary>The plan with counts.</summary>
    Counts,

    /// <summary>The plan with counts, and the time of every step.</summary>
    Times,
}

/// <summary>Plans forced by a test. All give the same result.</summary>
internal sealed record PlanHints
{
    public static readonly PlanHints None = new();

    /// <summary>How clauses of an AND check the survivors of earlier clauses.</summary>
    public ProbeHint Probe { get; init; }

    /// <summary>How ranges of numbers are found.</summary>
    public RangeHint Range { get; init; }

    /// <summary>How the best hits of lists are found.</summary>
    public RankHint Rank { get; init; }
}

/// <summary>How a clause of an AND checks survivors.</summary>
internal enum ProbeHint
{
    Cheaper,

    /// <summary>Window by window.</summary>
    Windows,

    /// <summary>One by one.</summary>
    Entries,
}

/// <summary>How the best hits are found if all clauses are lists.</summary>
internal enum RankHint
{
    Cheaper,

    /// <summary>By operators, window by window.</summary>
    Windows,
}

/// <summary>How ranges of numbers are found.</summary>
internal enum RangeHint
{
    Cheaper,

    /// <summary>Terms are gathered before the query runs.</summary>
    Gather,

    /// <summary>Sort values are compared, where that is correct.</summary>
    Column,
}
