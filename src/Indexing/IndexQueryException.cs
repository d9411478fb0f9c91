namespace Treepie.Indexing;

/// <summary>A query asks for what this index cannot give: a range of mixed kinds, an order by a full-text field, a nesting without end.</summary>
public sealed class IndexQueryException : Exception
{
    /// <summary>Creates the error.</summary>
    public IndexQueryException(string message)
        : base(message)
    {
    }
}
