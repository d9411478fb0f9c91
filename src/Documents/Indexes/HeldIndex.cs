namespace Treepie.Indexes;

/// <summary>An index that cannot go before it is released.</summary>
/// <param name="Index">The index; whoever has this releases it.</param>
/// <param name="Folder">Name of its folder.</param>
/// <param name="Definition">Its definition, as it lies there or in the documents' store.</param>
internal sealed record HeldIndex(DocumentIndex Index, string Folder, byte[] Definition);
