namespace Treepie.Indexes;

/// <summary>An index considered for a query.</summary>
/// <param name="Index">The name of the index, or <c>collection/Users</c> if the documents are scanned directly.</param>
/// <param name="Reason">A human-readable reason why the index was chosen or not.</param>
public sealed record IndexChoice(string Index, string Reason);
