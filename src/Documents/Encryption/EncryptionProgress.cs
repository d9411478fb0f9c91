namespace Treepie.Encryption;

/// <summary>How far a database is with being encrypted anew.</summary>
/// <param name="Store">What is at work: <c>documents</c>, or the name of an index.</param>
/// <param name="PagesDone">Pages of it done.</param>
/// <param name="PagesTotal">Pages of it in all.</param>
public readonly record struct EncryptionProgress(string Store, long PagesDone, long PagesTotal);
