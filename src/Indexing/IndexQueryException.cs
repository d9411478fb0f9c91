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
    /// Whether a pattern is too complicated, as several that are looked for together may be where each of them is not.
    /// </summary>
    internal bool IsOfPattern { get; init; }
}
