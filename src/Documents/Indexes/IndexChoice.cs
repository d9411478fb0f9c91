namespace Treepie.Indexes;

/// <summary>An index that a query could be answered by.</summary>
/// <param name="Index">Its name, or <c>collection/Users</c> where the documents themselves answer.</param>
/// <param name="Reason">Why it is the one that answers, or why it is not, for people.</param>
public sealed record IndexChoice(string Index, string Reason);
