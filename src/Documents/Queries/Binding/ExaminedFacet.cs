using Treepie.Queries.Filters;
using Treepie.Queries.Projecting;

namespace Treepie.Queries.Binding;

/// <summary>What a facet counts if no index has it: the values, or the conditions, of each hit.</summary>
/// <param name="Value">The value whose terms are counted; null if conditions are.</param>
/// <param name="Conditions">The condition of each range of the facet; empty if terms are counted.</param>
internal sealed record ExaminedFacet(ProjectedField? Value, IReadOnlyList<DocumentFilter> Conditions);

/// <summary>The terms of a facet that are not on its page.</summary>
/// <param name="Terms">Their names, if wanted.</param>
/// <param name="Count">The number of terms.</param>
/// <param name="Hits">The hits that they have together.</param>
internal sealed record RemainingTerms(IReadOnlyList<string> Terms, long Count, long Hits);
