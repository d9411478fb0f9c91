namespace Treepie;

/// <summary>
/// Somebody else was first: a document, or a database, is not in the state the caller expected. Nothing was changed.
/// </summary>
public sealed class ConcurrencyException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public ConcurrencyException(
        string message, string? id = null, string? expectedChangeVector = null, string? actualChangeVector = null)
        : base(message)
    {
        Id = id;
        ExpectedChangeVector = expectedChangeVector;
        ActualChangeVector = actualChangeVector;
    }

    /// <summary>The document, if it is about one.</summary>
    public string? Id { get; }

    /// <summary>What the caller expected.</summary>
    public string? ExpectedChangeVector { get; }

    /// <summary>What was found; null where there is no document.</summary>
    public string? ActualChangeVector { get; }
}
