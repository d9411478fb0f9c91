using Treepie.Indexing.Suggestions;

namespace Treepie.Queries.Binding;

/// <summary>A <c>suggest()</c> of SELECT.</summary>
/// <param name="Name">Its name in the answer.</param>
/// <param name="Texts">What was typed: suggestions for each, one list together.</param>
/// <param name="Request">Where to look, and how; its text is replaced by each of <paramref name="Texts"/>.</param>
internal sealed record BoundSuggestion(string Name, IReadOnlyList<string> Texts, SuggestionRequest Request);
