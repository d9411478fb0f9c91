namespace Treepie.Indexing;

/// <summary>
/// Thrown when an index does not support a query: a range of mixed types, an order by a full-text field, too deep nesting.
/// </summary>
public sealed class IndexQueryException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public IndexQueryException(string message)
        : base(message)
    {
    }

    /// <summary>
    /// Whether a pattern is too complex. Several patterns combined can be too complex although each alone is not.
    /// </summary>
    internal bool IsOfPattern { get; init; }
}
