namespace Treepie.Encryption;

/// <summary>The progress of the re-encryption of a database.</summary>
/// <param name="Store">The current store: <c>documents</c>, or the name of an index.</param>
/// <param name="PagesDone">The number of pages processed in this store.</param>
/// <param name="PagesTotal">The total number of pages in this store.</param>
public readonly record struct EncryptionProgress(string Store, long PagesDone, long PagesTotal);
