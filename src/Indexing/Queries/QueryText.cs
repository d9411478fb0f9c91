using System.Globalization;
using System.Text;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Queries;

/// <summary>
/// Serializes condition and order to a text that is equal for equal queries, in every culture, and different for different ones.
/// Not for display.
/// </summary>
internal sealed class QueryText
{
    /// <summary>Deeper queries are rejected when they are compiled.</summary>
    private const int MaxDepth = 256;

    private readonly StringBuilder _text = new();
    private readonly IndexSchema _schema;

    private QueryText(IndexSchema schema) => _schema = schema;

    public static string Of(SearchRequest request, IndexSchema schema)
    {
        var text = new QueryText(schema);
        text.Add(request.Query, 0);
        text.AddAll(request.Sort, text.Add);
        return text._text.ToString();
    }

    private void Add(IndexQuery query, int depth)
    {
        Add(query.GetType().Name);
        if (depth > MaxDepth)
            return;

        switch (query)
        {
            case MatchAllQuery or MatchNoneQuery:
                break;
            case AndQuery all:
                AddAll(all.Clauses, depth);
                break;
            case OrQuery any:
                AddAll(any.Clauses, depth);
                break;
            case IntersectQuery together:
                AddAll(together.Clauses, depth);
                break;
            case NotQuery not:
                Add(not.Clause, depth + 1);
                break;
            case BoostQuery boost:
                Add(boost.Factor);
                Add(boost.Clause, depth + 1);
                break;
            case FusionQuery fusion:
                Add(fusion, depth);
                break;
            case MoreLikeThisQuery like:
                Add(like, depth);
                break;
            case VectorQuery vector:
                Add(vector);
                break;
            case SpatialQuery spatial:
                Add(spatial.Field);
                Add((long)spatial.Relation);
                Add(WktWriter.Write(spatial.Shape));
                break;
            case EntriesQuery entries:
                AddAll(entries.Ids, Add);
                break;
            case KeyQuery keys:
                AddAll(keys.Keys, Add);
                Add(keys.IsPrefix);
                break;
            case KeyPatternQuery keys:
                Add(keys.Pattern);
                Add(keys.IsRegex);
                break;
            case KeyRangeQuery keys:
                Add(keys.Low is not null);
                Add(keys.Low ?? "");
                Add(keys.LowInclusive);
                Add(keys.High is not null);
                Add(keys.High ?? "");
                Add(keys.HighInclusive);
                break;
            default:
                AddOfField(query);
                break;
        }
    }

    /// <summary>Adds a query on the terms of one field.</summary>
    private void AddOfField(IndexQuery query)
    {
        switch (query)
        {
            case TermQuery term:
                Add(term.Field);
                Add(term.Value);
                break;
            case InQuery list:
                Add(list.Field);
                AddAll(list.Values, Add);
                break;
            case AllInQuery list:
                Add(list.Field);
                AddAll(list.Values, Add);
                break;
            case RangeQuery range:
                Add(range.Field);
                AddBound(range.Low, range.LowInclusive);
                AddBound(range.High, range.HighInclusive);
                break;
            case PrefixQuery prefix:
                Add(prefix.Field);
                Add(prefix.Prefix);
                break;
            case SuffixQuery suffix:
                Add(suffix.Field);
                Add(suffix.Suffix);
                break;
            case ContainsQuery contains:
                Add(contains.Field);
                Add(contains.Text);
                break;
            case WildcardQuery wildcard:
                Add(wildcard.Field);
                Add(wildcard.Pattern);
                break;
            case RegexQuery regex:
                Add(regex.Field);
                Add(regex.Pattern);
                Add(regex.IsWhole);
                break;
            case ExistsQuery exists:
                Add(exists.Field);
                break;
            default:
                AddOfWords(query);
                break;
        }
    }

    /// <summary>Adds a query on the words of one field.</summary>
    private void AddOfWords(IndexQuery query)
    {
        switch (query)
        {
            case FullTextQuery words:
                Add(words.Field);
                Add(words.Text);
                Add(words.All);
                break;
            case PhraseQuery phrase:
                Add(phrase.Field);
                Add(phrase.Text);
                Add(phrase.Slop);
                Add(phrase.Ordered);
                break;
            case TextQuery text:
                Add(text.Field);
                Add(text.Text);
                Add(text.Slop);
                break;
            case FuzzyQuery fuzzy:
                Add(fuzzy.Field);
                Add(fuzzy.Text);
                Add(fuzzy.Similarity);
                Add(fuzzy.Prefix);
                break;
            default:
                throw new IndexQueryException($"This index does not know queries of the type {query.GetType().Name}.");
        }
    }

    private void Add(FusionQuery fusion, int depth)
    {
        Add((long)fusion.Method);
        Add(fusion.Window);
        AddAll(
            fusion.Clauses,
            clause =>
            {
                Add(clause.Weight);
                Add(clause.Query, depth + 1);
            });
    }

    private void Add(VectorQuery vector)
    {
        Add(vector.Field);
        AddAll(vector.Vector, Add);
        AddAll(vector.Others, other => AddAll(other, Add));
        Add(vector.OfEntry);
        Add(vector.Candidates);
        Add(vector.MinimumSimilarity ?? double.NaN);
        Add(vector.IsExact);
    }

    private void Add(MoreLikeThisQuery like, int depth)
    {
        MoreLikeThisOptions options = like.Options;
        Add(like.Key);
        AddAll(like.First is { } first ? [first] : [], depth);
        AddAll(options.Fields, Add);
        Add(like.Texts is not null);
        if (like.Texts is { } texts)
            foreach (string field in FieldsOf(options))
                AddAll(texts(field), Add);
        Add(options.MinTermFrequency);
        Add(options.MaxQueryTerms);
        Add(options.MaxTokensParsed);
        Add(options.MinDocumentFrequency);
        Add(options.MaxDocumentFrequency);
        Add(options.MaxDocumentFrequencyPercentage);
        Add(options.MinWordLength);
        Add(options.MaxWordLength);
        Add(options.Boost);
        Add(options.BoostFactor);
        AddAll(options.StopWords, Add);
    }

    /// <summary>The fields whose texts are compared.</summary>
    private IEnumerable<string> FieldsOf(MoreLikeThisOptions options) => options.Fields.Count > 0
        ? options.Fields
        : _schema.Fields.Where(static field => field.Analysis == FieldAnalysis.FullText).Select(static field => field.Name);

    private void Add(SortKey key)
    {
        Add(key.Field);
        Add((long)key.Kind);
        Add(key.Descending);
        Add(key.NullsFirst switch { null => 0, false => 1, true => 2 });
        Add(key.Seed);
        Add(key.Centre?.Latitude ?? double.NaN);
        Add(key.Centre?.Longitude ?? double.NaN);
        Add(key.RoundToKm);
        Add(key.Custom?.Name);
    }

    private void AddBound(FieldValue? bound, bool isInclusive)
    {
        Add(bound is not null);
        Add(bound ?? default);
        Add(isInclusive);
    }

    private void Add(FieldValue value)
    {
        Add((long)value.Kind);
        Add(value.Text);
        Add(value.Long); // the bits of any value that is no text
    }

    private void AddAll(IReadOnlyList<IndexQuery> clauses, int depth) => AddAll(clauses, clause => Add(clause, depth + 1));

    private void AddAll<T>(IReadOnlyList<T> values, Action<T> add)
    {
        Add(values.Count);
        foreach (T value in values)
            add(value);
    }

    /// <summary>Adds a text behind its length, so that no two sequences of texts are written alike.</summary>
    private void Add(string? text)
    {
        Add(text?.Length ?? -1);
        _text.Append(text).Append(' ');
    }

    private void Add(bool value) => Add(value ? 1 : 0);

    private void Add(long value) => _text.Append(CultureInfo.InvariantCulture, $"{value} ");

    private void Add(float value) => Add((double)value);

    private void Add(double value) => _text.Append(CultureInfo.InvariantCulture, $"{value:R} ");
}
