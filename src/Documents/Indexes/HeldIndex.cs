namespace Treepie.Indexes;

/// <summary>An index that is held and cannot be deleted until it is released.</summary>
/// <param name="Index">The index; the owner of this object must release it.</param>
/// <param name="Folder">The name of its folder.</param>
/// <param name="Definition">Its definition, as stored in its folder or in the documents' store.</param>
internal sealed record HeldIndex(DocumentIndex Index, string Folder, byte[] Definition);
