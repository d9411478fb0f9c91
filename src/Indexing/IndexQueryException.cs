namespace Treepie.Indexing;

/// <summary>
/// A query asks for what this index cannot give: a range of mixed kinds, an order by a full-text field, a nesting without end.
/// </summary>
public sealed class IndexQueryException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public IndexQueryException(string message)
        : base(message)
    {
    }

    /// <summary>
    /// Whether a pattern is too complicated, as several that are looked for together may be where each of them is not.
    /// </summary>
    internal bool IsOfPattern { get; init; }
}
