namespace Treepie.Indexing.Queries;

/// <summary>
/// Matches entries whose keys end with a text, or in which a regular expression is found. The expression is converted to lower
/// case first, because document ids are in lower case in keys; it does not match capital letters of a key. Reads all keys. For
/// where a key ends, see <see cref="KeyQuery"/>.
/// </summary>
/// <param name="Pattern">The text or the expression.</param>
/// <param name="IsRegex">Whether it is a regular expression.</param>
public sealed record KeyPatternQuery(string Pattern, bool IsRegex) : IndexQuery;
