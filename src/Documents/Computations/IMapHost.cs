namespace Treepie.Computations;

/// <summary>
/// What a map may look at beside its document. Whatever it is asked is noted, so that the document is mapped again when the
/// answer changes.
/// </summary>
internal interface IMapHost
{
    /// <summary>
    /// A document of a collection as JSON, with <c>@metadata</c>; null where there is none, or it is of another collection.
    /// </summary>
    byte[]? Load(string id, string collection);

    /// <summary>The value of a compare-exchange key as JSON; null where there is none.</summary>
    byte[]? CompareExchange(string key);

    /// <summary>
    /// Name, type, hash and size of an attachment of the document that is mapped, as JSON; null where there is none.
    /// </summary>
    /// <exception cref="ComputationException">It is of another document.</exception>
    byte[]? Attachment(string id, string name);

    /// <summary>The content of an attachment of the document that is mapped, as text; null where there is none.</summary>
    /// <exception cref="ComputationException">It is of another document, or too long.</exception>
    string? AttachmentText(string id, string name);

    /// <summary>The time series or counter that is mapped; null: a document is.</summary>
    string? BesideName => null;

    /// <summary>The document that is mapped, as JSON with the whole <c>@metadata</c> that clients see.</summary>
    byte[] WholeDocument();
}
