using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Queries;

/// <summary>
/// A query as data. Immutable. A value is matched after the field's own analysis, so equality on a folded field ignores case.
/// </summary>
public abstract record IndexQuery;

/// <summary>Every entry.</summary>
public sealed record MatchAllQuery : IndexQuery;

/// <summary>No entry.</summary>
public sealed record MatchNoneQuery : IndexQuery;

/// <summary>
/// Entries one of whose values of <paramref name="Field"/> equals <paramref name="Value"/>; null matches explicit nulls and
/// missing fields.
/// </summary>
public sealed record TermQuery(string Field, FieldValue Value) : IndexQuery;

/// <summary>Entries that have one of the values; an empty list matches nothing.</summary>
public sealed record InQuery(string Field, IReadOnlyList<FieldValue> Values) : IndexQuery;

/// <summary>Entries that have all of the values.</summary>
public sealed record AllInQuery(string Field, IReadOnlyList<FieldValue> Values) : IndexQuery;

/// <summary>
/// Entries with a value between the bounds; a null bound is open. Bounds of numbers compare with numbers (long and double
/// together, exactly), bounds of text with terms in byte order. Nulls and missing fields never match.
/// </summary>
public sealed record RangeQuery(string Field, FieldValue? Low, bool LowInclusive, FieldValue? High, bool HighInclusive)
    : IndexQuery;

/// <summary>Entries with a term that starts with the text.</summary>
public sealed record PrefixQuery(string Field, string Prefix) : IndexQuery;

/// <summary>Entries with a term that ends with the text (reads the whole dictionary of the field).</summary>
public sealed record SuffixQuery(string Field, string Suffix) : IndexQuery;

/// <summary>Entries that have the field, be it as an explicit null.</summary>
public sealed record ExistsQuery(string Field) : IndexQuery;

/// <summary>
/// Full-text search over a <see cref="Schema.FieldAnalysis.FullText"/> field: the text is cut at white space, except between
/// double quotes, and each part analyzed; parts are combined with OR, or with AND if <paramref name="All"/>. A part that becomes
/// several terms is a phrase. A part with <c>*</c> at its end or start is a prefix or suffix; with several terms it matches
/// entries that have all of them. Scored by BM25.
/// </summary>
public sealed record FullTextQuery(string Field, string Text, bool All) : IndexQuery;

/// <summary>
/// Entries of a full-text field in which the words of the text stand together: next to each other, in order, or with a
/// <paramref name="Slop"/> each up to so many places from where it would stand; two neighbours in reverse order are 2 apart. The
/// words of one entry's values never make a phrase together. A text of one word is that word, one without a word matches nothing.
/// Scored by BM25, the phrase taken as one term whose weight is the sum over its words and whose frequency counts a place with
/// distance d as 1 / (1 + d).
/// </summary>
/// <param name="Field">A full-text field.</param>
/// <param name="Text">The words.</param>
/// <param name="Slop">From 0 on.</param>
/// <param name="Ordered">Whether the words have to keep their order also within the slop.</param>
public sealed record PhraseQuery(string Field, string Text, int Slop = 0, bool Ordered = false) : IndexQuery;

/// <summary>
/// Entries with a place or shape in a spatial field that lies as wanted to a shape. Disjoint: entries with values none of which
/// has a point in common with it. Where scores are wanted, a match of a single circle counts <c>r / (r + d)</c>, d being the
/// distance of its nearest value from the centre; of other shapes 1.
/// </summary>
public sealed record SpatialQuery(string Field, SpatialRelation Relation, Geometry Shape) : IndexQuery;

/// <summary>
/// The entries of a vector field most similar to a vector, so many as <paramref name="Candidates"/> says; in an
/// <see cref="AndQuery"/>, so many among those that the other clauses leave. Scored by similarity: the cosine, the dot product,
/// or <c>1 / (1 + distance)</c>, see <see cref="VectorMetric"/>.
/// </summary>
/// <param name="Field">A vector field.</param>
/// <param name="Vector">Finite numbers, as many as the vectors of the field have.</param>
/// <param name="Candidates">Entries to find, 1 to <see cref="MaxCandidates"/>.</param>
/// <param name="MinimumSimilarity">Less similar ones are left out; null: none.</param>
/// <param name="IsExact">Whether every vector is compared, instead of those that a graph leads to.</param>
public sealed record VectorQuery(
    string Field, IReadOnlyList<float> Vector, int Candidates, float? MinimumSimilarity = null, bool IsExact = false) : IndexQuery
{
    /// <summary>Most entries that one search finds.</summary>
    public const int MaxCandidates = 16_384;

    /// <summary>Most vectors of one search: each is a search of its own.</summary>
    public const int MaxVectors = 256;

    /// <summary>Vectors beside the first: an entry is as similar as it is to that which it is most similar to.</summary>
    public IReadOnlyList<IReadOnlyList<float>> Others { get; init; } = [];

    /// <summary>
    /// Key of an entry whose vectors are meant, instead of any given here; one that has none is like no other. Null: those given
    /// here.
    /// </summary>
    public string? OfEntry { get; init; }
}

/// <summary>Entries that match every clause.</summary>
public sealed record AndQuery(IReadOnlyList<IndexQuery> Clauses) : IndexQuery;

/// <summary>Entries that match at least one clause.</summary>
public sealed record OrQuery(IReadOnlyList<IndexQuery> Clauses) : IndexQuery;

/// <summary>Entries that do not match.</summary>
public sealed record NotQuery(IndexQuery Clause) : IndexQuery;

/// <summary>The same entries with scores multiplied.</summary>
public sealed record BoostQuery(IndexQuery Clause, float Factor) : IndexQuery;

/// <summary>
/// The text as the field analyzes it: in a full-text field its words together and in order, as <see cref="PhraseQuery"/> has
/// them, scored by BM25; in a field of whole values those that equal it.
/// </summary>
public sealed record TextQuery(string Field, string Text, int Slop = 0) : IndexQuery;

/// <summary>Entries with a term that has the text in it (reads the whole dictionary of the field).</summary>
public sealed record ContainsQuery(string Field, string Text) : IndexQuery;

/// <summary>
/// Entries with a term of the pattern: <c>*</c> stands for any characters, <c>?</c> for one, and what follows a <c>\</c> for
/// itself. Of the dictionary those terms are read that begin as the pattern does.
/// </summary>
public sealed record WildcardQuery(string Field, string Pattern) : IndexQuery;

/// <summary>
/// Entries with a term in which the regular expression is found; <c>^</c> and <c>$</c> are start and end of the term. There are
/// no references to groups and no looking around: every expression costs one step for each character of a term. Terms of a folded
/// field are compared without case.
/// </summary>
/// <param name="Field">The field.</param>
/// <param name="Pattern">The expression.</param>
/// <param name="IsWhole">Whether it has to fit the whole term, also without <c>^</c> and <c>$</c>.</param>
public sealed record RegexQuery(string Field, string Pattern, bool IsWhole = false) : IndexQuery;

/// <summary>
/// Entries with a term that is nearly the text: a character put in, left out or replaced, and two neighbours exchanged, are an
/// edit each. In a full-text field every word of the text has to be met so.
/// </summary>
/// <param name="Field">The field.</param>
/// <param name="Text">The text.</param>
/// <param name="Similarity">From 0 on and below 1: the part of the characters that may not be edited, 2 edits being the most; 1
/// or 2: so many edits.</param>
/// <param name="Prefix">So many characters at the start have to be the same.</param>
public sealed record FuzzyQuery(string Field, string Text, float Similarity = 0.5f, int Prefix = 0) : IndexQuery;
