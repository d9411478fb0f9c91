using Treepie.Indexing.Suggestions;

namespace Treepie.Queries.Binding;

/// <summary>A <c>suggest()</c> of SELECT.</summary>
/// <param name="Name">Its name in the result.</param>
/// <param name="Texts">The input texts; the suggestions for all of them form one list.</param>
/// <param name="Request">Where and how to search; its text is replaced by each of <paramref name="Texts"/>.</param>
internal sealed record BoundSuggestion(string Name, IReadOnlyList<string> Texts, SuggestionRequest Request);
