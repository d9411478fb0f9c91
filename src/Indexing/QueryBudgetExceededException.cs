namespace Treepie.Indexing;

/// <summary>A query was stopped because it spent what its <see cref="Queries.QueryBudget"/> allows.</summary>
public sealed class QueryBudgetExceededException : TreepieException
{
    /// <summary>Creates it.</summary>
    public QueryBudgetExceededException(string message)
        : base(message)
    {
    }
}
