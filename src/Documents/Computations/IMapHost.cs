namespace Treepie.Computations;

/// <summary>
/// What a map may read apart from its document. All reads are recorded, so that the document is mapped again when a result
/// changes.
/// </summary>
internal interface IMapHost
{
    /// <summary>
    /// Returns a document of a collection as JSON, with <c>@metadata</c>; null if it does not exist or is in another
    /// collection.
    /// </summary>
    byte[]? Load(string id, string collection);

    /// <summary>Returns the value of a compare-exchange key as JSON; null if it does not exist.</summary>
    byte[]? CompareExchange(string key);

    /// <summary>
    /// Returns name, type, hash and size of an attachment of the mapped document, as JSON; null if it does not exist.
    /// </summary>
    /// <exception cref="ComputationException">The attachment is of another document.</exception>
    byte[]? Attachment(string id, string name);

    /// <summary>Returns the content of an attachment of the mapped document, as text; null if it does not exist.</summary>
    /// <exception cref="ComputationException">The attachment is of another document, or too large.</exception>
    string? AttachmentText(string id, string name);

    /// <summary>The name of the time series or counter that is mapped; null if a document is.</summary>
    string? BesideName => null;

    /// <summary>Returns the mapped document as JSON, with the complete <c>@metadata</c> that clients see.</summary>
    byte[] WholeDocument();
}
