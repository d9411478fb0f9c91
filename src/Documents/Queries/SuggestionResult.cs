using Treepie.Indexing.Suggestions;

namespace Treepie.Queries;

/// <summary>The result of a <c>suggest()</c> of a query.</summary>
/// <param name="Name">The alias after <c>as</c>, otherwise the path of the field.</param>
/// <param name="Suggestions">The suggested terms, best first, with the number of documents that contain each. Does not
/// contain the text of the request itself.</param>
public sealed record SuggestionResult(string Name, IReadOnlyList<Suggestion> Suggestions);
