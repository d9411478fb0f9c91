using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Queries;

/// <summary>
/// The base of all queries. Immutable. Values are compared after the field's own analysis, so equality in a lower-cased field is
/// case-insensitive.
/// </summary>
public abstract record IndexQuery;

/// <summary>Matches every entry.</summary>
public sealed record MatchAllQuery : IndexQuery;

/// <summary>Matches no entry.</summary>
public sealed record MatchNoneQuery : IndexQuery;

/// <summary>
/// Matches entries one of whose values of <paramref name="Field"/> equals <paramref name="Value"/>; null matches explicit nulls
/// and missing fields.
/// </summary>
public sealed record TermQuery(string Field, FieldValue Value) : IndexQuery;

/// <summary>Matches entries that have at least one of the values; an empty list matches nothing.</summary>
public sealed record InQuery(string Field, IReadOnlyList<FieldValue> Values) : IndexQuery;

/// <summary>Matches entries that have all of the values.</summary>
public sealed record AllInQuery(string Field, IReadOnlyList<FieldValue> Values) : IndexQuery;

/// <summary>
/// Matches entries with a value between the bounds; a null bound is open. Numeric bounds are compared with numbers (long and
/// double together, exactly), text bounds with terms in byte order. Nulls and missing fields never match.
/// </summary>
public sealed record RangeQuery(string Field, FieldValue? Low, bool LowInclusive, FieldValue? High, bool HighInclusive)
    : IndexQuery;

/// <summary>Matches entries with a term that starts with the text.</summary>
public sealed record PrefixQuery(string Field, string Prefix) : IndexQuery;

/// <summary>Matches entries with a term that ends with the text (reads the whole dictionary of the field).</summary>
public sealed record SuffixQuery(string Field, string Suffix) : IndexQuery;

/// <summary>Matches entries that have the field, even as an explicit null.</summary>
public sealed record ExistsQuery(string Field) : IndexQuery;

/// <summary>
/// Full-text search in a <see cref="Schema.FieldAnalysis.FullText"/> field: the text is split at white space, except between
/// double quotes, and each part is analyzed; parts are combined with OR, or with AND if <paramref name="All"/>. A part that
/// yields several terms is a phrase. A part with <c>*</c> at its end or start is a prefix or suffix; if it has several terms, it
/// matches entries that have all of them. Scored by BM25.
/// </summary>
public sealed record FullTextQuery(string Field, string Text, bool All) : IndexQuery;

/// <summary>
/// Matches entries of a full-text field that contain the words of the text as a phrase: adjacent and in order or, with a
/// <paramref name="Slop"/>, each at most that many positions from its place in the phrase; two adjacent words in reverse order
/// have a distance of 2. Words of different values of an entry never form a phrase. A text of one word matches that word, one
/// without words matches nothing. Scored by BM25, with the phrase as one term whose weight is the sum over its words, and in
/// whose frequency an occurrence with distance d counts as 1 / (1 + d).
/// </summary>
/// <param name="Field">A full-text field.</param>
/// <param name="Text">The words.</param>
/// <param name="Slop">The maximum distance, at least 0.</param>
/// <param name="Ordered">Whether the words must be in order even within the slop.</param>
public sealed record PhraseQuery(string Field, string Text, int Slop = 0, bool Ordered = false) : IndexQuery;

/// <summary>
/// Matches entries with a point or shape in a spatial field that has the specified relation to a shape. Disjoint matches entries
/// with values none of which has a point in common with it. If scored, a match of a single circle scores <c>r / (r + d)</c>,
/// where d is the distance of its nearest value from the centre; a match of another shape scores 1.
/// </summary>
public sealed record SpatialQuery(string Field, SpatialRelation Relation, Geometry Shape) : IndexQuery;

/// <summary>
/// Matches the entries of a vector field most similar to a vector, as many as <paramref name="Candidates"/>; in an
/// <see cref="AndQuery"/>, as many among those that match the other clauses. Scored by similarity: the cosine, the dot product,
/// or <c>1 / (1 + distance)</c>, see <see cref="VectorMetric"/>.
/// </summary>
/// <param name="Field">A vector field.</param>
/// <param name="Vector">Finite numbers, as many as the vectors of the field have.</param>
/// <param name="Candidates">The number of entries to find, 1 to <see cref="MaxCandidates"/>.</param>
/// <param name="MinimumSimilarity">The minimum similarity; null: none.</param>
/// <param name="IsExact">Whether every vector is compared, instead of searching the graph.</param>
public sealed record VectorQuery(
    string Field, IReadOnlyList<float> Vector, int Candidates, float? MinimumSimilarity = null, bool IsExact = false) : IndexQuery
{
    /// <summary>The maximum number of entries that one search finds.</summary>
    public const int MaxCandidates = 16_384;

    /// <summary>The maximum number of vectors of one search: each is searched separately.</summary>
    public const int MaxVectors = 256;

    /// <summary>Additional vectors: the similarity of an entry is that to its most similar vector.</summary>
    public IReadOnlyList<IReadOnlyList<float>> Others { get; init; } = [];

    /// <summary>
    /// The key of an entry whose vectors are searched for, instead of any given here; an entry without vectors is similar to
    /// nothing. Null: the vectors given here.
    /// </summary>
    public string? OfEntry { get; init; }
}

/// <summary>Matches entries that match every clause.</summary>
public sealed record AndQuery(IReadOnlyList<IndexQuery> Clauses) : IndexQuery;

/// <summary>Matches entries that match at least one clause.</summary>
public sealed record OrQuery(IReadOnlyList<IndexQuery> Clauses) : IndexQuery;

/// <summary>Matches entries that do not match the clause.</summary>
public sealed record NotQuery(IndexQuery Clause) : IndexQuery;

/// <summary>Matches the same entries, with scores multiplied by a factor.</summary>
public sealed record BoostQuery(IndexQuery Clause, float Factor) : IndexQuery;

/// <summary>
/// Matches a text as the field analyzes it: in a full-text field its words as a phrase, like <see cref="PhraseQuery"/>, scored by
/// BM25; in a whole-value field the values that equal it.
/// </summary>
public sealed record TextQuery(string Field, string Text, int Slop = 0) : IndexQuery;

/// <summary>Matches entries with a term that contains the text (reads the whole dictionary of the field).</summary>
public sealed record ContainsQuery(string Field, string Text) : IndexQuery;

/// <summary>
/// Matches entries with a term that matches the pattern: <c>*</c> stands for any characters, <c>?</c> for one character, and
/// <c>\</c> escapes the next one. Reads only the terms that start like the pattern.
/// </summary>
public sealed record WildcardQuery(string Field, string Pattern) : IndexQuery;

/// <summary>
/// Matches entries with a term in which the regular expression is found; <c>^</c> and <c>$</c> are the start and end of the term.
/// Back-references and look-around are not supported: every expression takes one step for each character of a term. Terms of a
/// lower-cased field are compared case-insensitively.
/// </summary>
/// <param name="Field">The field.</param>
/// <param name="Pattern">The expression.</param>
/// <param name="IsWhole">Whether it must match the whole term, even without <c>^</c> and <c>$</c>.</param>
public sealed record RegexQuery(string Field, string Pattern, bool IsWhole = false) : IndexQuery;

/// <summary>
/// Matches entries with a term similar to the text: inserting, deleting or replacing a character, and swapping two neighbours, is
/// one edit each. In a full-text field, every word of the text must match.
/// </summary>
/// <param name="Field">The field.</param>
/// <param name="Text">The text.</param>
/// <param name="Similarity">From 0 to below 1: the fraction of the characters that must not be edited, with at most 2 edits; 1 or
/// 2: the number of edits.</param>
/// <param name="Prefix">The number of characters at the start that must be equal.</param>
public sealed record FuzzyQuery(string Field, string Text, float Similarity = 0.5f, int Prefix = 0) : IndexQuery;
