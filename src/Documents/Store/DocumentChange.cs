namespace Treepie.Store;

/// <summary>A notification that a document was stored or deleted.</summary>
/// <param name="Id">The id of the document.</param>
/// <param name="Collection">The collection of the document.</param>
/// <param name="Etag">The etag of the change; pass it to <see cref="ChangesOptions.AfterEtag"/> to resume a feed after
/// it.</param>
/// <param name="IsDeletion">Whether the document was deleted.</param>
public sealed record DocumentChange(string Id, string Collection, long Etag, bool IsDeletion);
