namespace Treepie.Indexing;

/// <summary>Thrown when a query was stopped because it exceeded its <see cref="Queries.QueryBudget"/>.</summary>
public sealed class QueryBudgetExceededException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public QueryBudgetExceededException(string message)
        : base(message)
    {
    }
}
