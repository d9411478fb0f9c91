namespace Treepie;

/// <summary>
/// Thrown when a document, or a database, is not in the state that the caller expected. Nothing was changed.
/// </summary>
public sealed class ConcurrencyException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public ConcurrencyException(
        string message, string? id = null, string? expectedChangeVector = null, string? actualChangeVector = null)
        : base(message)
    {
        Id = id;
        ExpectedChangeVector = expectedChangeVector;
        ActualChangeVector = actualChangeVector;
    }

    /// <summary>The id of the document, if the exception concerns one.</summary>
    public string? Id { get; }

    /// <summary>The change vector that the caller expected.</summary>
    public string? ExpectedChangeVector { get; }

    /// <summary>The actual change vector; null if the document does not exist.</summary>
    public string? ActualChangeVector { get; }
}
