using Treepie.Indexing.Suggestions;

namespace Treepie.Queries;

/// <summary>What a <c>suggest()</c> of a query found: terms of a field that may have been meant.</summary>
/// <param name="Name">Its name: the one behind <c>as</c>, else the path of the field.</param>
/// <param name="Suggestions">The terms, best first, with how many documents have them. The text asked for is not among
/// them.</param>
public sealed record SuggestionResult(string Name, IReadOnlyList<Suggestion> Suggestions);
