using System.Text;
using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Rql;
using Treepie.Rql.Syntax;
using Treepie.Store;

namespace Treepie.Queries.Binding;

/// <summary>
/// Binds the text methods of WHERE: <c>regex</c>, <c>fuzzy</c>, <c>lucene</c>, <c>moreLikeThis</c>; and <c>intersect</c>.
/// </summary>
/// <param name="query">The query.</param>
/// <param name="parameters">Its parameter values.</param>
/// <param name="fields">Its fields.</param>
/// <param name="loadDocument">Returns the body of a document that a method refers to, or null if it does not exist.</param>
/// <param name="bind">Binds any condition.</param>
internal sealed class TextMethodBinder(
    RqlQuery query, QueryParameters parameters, FieldBinder fields, Func<string, byte[]?> loadDocument,
    Func<Expression, AutoIndexFieldKind, IndexQuery> bind)
{
    /// <summary>Whether a condition bound here produces scores.</summary>
    public bool IsScored { get; private set; }

    /// <summary>Binds a method. Returns null if it is none of these.</summary>
    public IndexQuery? TryBind(MethodExpression method, AutoIndexFieldKind kind)
    {
        if (method.Is("regex"))
            return BindRegex(method, kind);
        if (method.Is("fuzzy"))
            return BindFuzzy(method, kind);
        if (method.Is("lucene"))
            return BindLucene(method, kind);
        if (method.Is("moreLikeThis"))
            return BindMoreLikeThis(method);
        return method.Is("intersect") ? BindIntersect(method, kind) : null;
    }

    private IndexQuery BindRegex(MethodExpression method, AutoIndexFieldKind kind)
    {
        IReadOnlyList<Expression> arguments = Arguments(method, 2, 2, "regex(Name, '^an')");
        if (fields.IsKey(arguments[0]))
            return fields.HasNoIds
                ? new MatchNoneQuery()
                : new KeyPatternQuery(parameters.Text(arguments[1], "a regular expression"), IsRegex: true);
        return new RegexQuery(fields.Field(arguments[0], kind).SchemaName, parameters.Text(arguments[1], "a regular expression"));
    }

    private FuzzyQuery BindFuzzy(MethodExpression method, AutoIndexFieldKind kind)
    {
        IReadOnlyList<Expression> arguments = Arguments(method, 2, 2, "fuzzy(Name = 'anna', 0.5)");
        if (arguments[0] is not CompareExpression { Operator: CompareOperator.Equal } compare)
            throw RqlErrors.At(
                query.Text, arguments[0].Position,
                "The first argument of 'fuzzy()' is a comparison with '=', as in fuzzy(Name = 'anna', 0.5).");

        double similarity = parameters.Value(arguments[1]) switch
        {
            { Kind: FieldValueKind.Long } whole => whole.Long,
            { Kind: FieldValueKind.Double } real => real.Double,
            _ => double.NaN,
        };
        if (!(similarity is (>= 0 and <= 1) or 2))
            throw RqlErrors.At(
                query.Text, arguments[1].Position,
                "The second argument of 'fuzzy()' is a similarity from 0 to below 1, or a number of edits: 1 or 2.");

        string text = parameters.Text(compare.Right, "the text to compare with");
        return new FuzzyQuery(fields.Field(compare.Left, kind).SchemaName, text, (float)similarity);
    }

    /// <summary>Terms are searched among the words of a field, ranges among its values.</summary>
    private IndexQuery BindLucene(MethodExpression method, AutoIndexFieldKind kind)
    {
        IReadOnlyList<Expression> arguments = Arguments(method, 2, 2, "lucene(Notes, 'quick AND fox~')");
        string text = parameters.Text(arguments[1], "a text in the syntax of Lucene");
        IsScored = true;
        try
        {
            return LuceneSyntax.Parse(text, (name, isRange) =>
            {
                Expression operand = name is null
                    ? arguments[0]
                    : new LiteralExpression(arguments[1].Position, LiteralKind.String, name);
                AutoIndexFieldKind wanted = kind == AutoIndexFieldKind.Exact || isRange ? kind : AutoIndexFieldKind.Search;
                return fields.Field(operand, wanted).SchemaName;
            });
        }
        catch (IndexQueryException error)
        {
            throw RqlErrors.At(query.Text, arguments[1].Position, error.Message);
        }
    }

    /// <summary>
    /// Each condition may be met by another entry of a document, of which an index may have several. With one entry per document,
    /// as in auto-indexes, conditions that hold for the same document hold for the same entry.
    /// </summary>
    private IndexQuery BindIntersect(MethodExpression method, AutoIndexFieldKind kind)
    {
        IReadOnlyList<Expression> arguments = Arguments(method, 2, int.MaxValue, "intersect(Colour = 'red', Size = 'L')");
        IndexQuery[] clauses = [.. arguments.Select(argument => bind(argument, kind))];
        return fields.MayHaveSeveralOfDocument ? new IntersectQuery(clauses) : new AndQuery(clauses);
    }

    private MoreLikeThisQuery BindMoreLikeThis(MethodExpression method)
    {
        IReadOnlyList<Expression> arguments = Arguments(method, 1, 2, "moreLikeThis(id() = 'articles/1', $options)");
        MoreLikeThisOptions options = new();
        IReadOnlyList<string> paths = [];
        if (arguments.Count == 2)
            (options, paths) = ReadOptions(arguments[1]);
        if (paths.Count == 0 && !query.From.IsIndex)
        {
            throw RqlErrors.At(
                query.Text, method.Position,
                "'moreLikeThis()' over a collection has to know which fields to compare: name them in its options, "
                    + "{\"Fields\":[\"Notes\"]}, or ask an index by its name.");
        }

        var pathOf = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (string path in paths)
        {
            AutoIndexField field = fields.Field(
                new LiteralExpression(method.Position, LiteralKind.String, path), AutoIndexFieldKind.Search);
            pathOf.TryAdd(field.SchemaName, field.Path);
        }

        IsScored = true;
        options = options with { Fields = [.. pathOf.Keys] };
        switch (arguments[0])
        {
            case CompareExpression { Operator: CompareOperator.Equal } compare when fields.IsId(compare.Left):
                return new MoreLikeThisQuery(Key(parameters.Text(compare.Right, "the id of a document")), null, options);
            case LiteralExpression { Kind: LiteralKind.String } or ParameterExpression:
                string text = parameters.Text(arguments[0], "a document as JSON");
                return text.TrimStart().StartsWith('{')
                    ? new MoreLikeThisQuery(null, TextsOf(text, pathOf, arguments[0].Position), options)
                    : new MoreLikeThisQuery(Key(text), null, options);
            case LiteralExpression { Kind: not LiteralKind.True }:
                throw RqlErrors.At(
                    query.Text, arguments[0].Position,
                    "'moreLikeThis()' takes a document of the index, as moreLikeThis(id() = 'articles/1') or by any other "
                        + "condition, or one as JSON.");
            default:
                return new MoreLikeThisQuery(null, null, options) { First = bind(arguments[0], AutoIndexFieldKind.Value) };
        }
    }

    /// <summary>
    /// Reads the stop words of a document in the format that clients store: its member <c>StopWords</c>, in any case.
    /// </summary>
    private IReadOnlyList<string> StopWordsOf(string id, int position)
    {
        byte[] body = loadDocument(id)
            ?? throw RqlErrors.At(query.Text, position, $"There is no document '{id}' with stop words ('StopWordsDocumentId').");
        using JsonDocument document = JsonDocument.Parse(body);
        JsonProperty member = document.RootElement.EnumerateObject()
            .FirstOrDefault(member => string.Equals(member.Name, "StopWords", StringComparison.OrdinalIgnoreCase));
        return member.Value.ValueKind == JsonValueKind.Array
            && member.Value.EnumerateArray().All(word => word.ValueKind == JsonValueKind.String)
            ? Strings(member.Value)
            : throw RqlErrors.At(
                query.Text, position, $"The document '{id}' has no stop words: expected is an array of strings, 'StopWords'.");
    }

    /// <summary>Returns an id in the form of an index key: case-folded.</summary>
    public static string Key(string id)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(id);
        if (utf8.Length is 0 or > DocumentId.MaxBytes)
            return "\0"; // matches no document
        Span<byte> folded = stackalloc byte[DocumentId.MaxFoldedBytes];
        return Encoding.UTF8.GetString(folded[..DocumentId.Fold(utf8, folded)]);
    }

    /// <summary>Returns a text of any length, with which ids are compared, in the form of index keys.</summary>
    public static string Bound(string text) => Encoding.UTF8.GetString(CollectionName.Fold(text));

    private Func<string, IReadOnlyList<string>> TextsOf(string json, Dictionary<string, string> pathOf, int position)
    {
        byte[] document = Encoding.UTF8.GetBytes(json);
        try
        {
            using JsonDocument checkedJson = JsonDocument.Parse(document);
        }
        catch (JsonException error)
        {
            throw RqlErrors.At(query.Text, position, $"The document of 'moreLikeThis()' is no JSON: {error.Message}");
        }

        return name => FieldTexts.Of(document, FieldPath.TryParse(pathOf.GetValueOrDefault(name) ?? fields.PathIn(name) ?? name));
    }

    private (MoreLikeThisOptions Options, IReadOnlyList<string> Paths) ReadOptions(Expression expression)
    {
        try
        {
            using JsonDocument json = JsonDocument.Parse(parameters.Json(expression));
            JsonElement root = json.RootElement.ValueKind == JsonValueKind.String
                ? JsonDocument.Parse(json.RootElement.GetString() ?? "").RootElement
                : json.RootElement;
            MoreLikeThisOptions options = new();
            IReadOnlyList<string> paths = [];
            foreach (JsonProperty option in root.EnumerateObject())
            {
                JsonElement value = option.Value;
                if (value.ValueKind == JsonValueKind.Null)
                    continue;
                switch (option.Name.ToLowerInvariant()) // clients send option names in either case
                {
                    case "fields": paths = Strings(value); break;
                    case "minimumtermfrequency": options = options with { MinTermFrequency = value.GetInt32() }; break;
                    case "maximumqueryterms": options = options with { MaxQueryTerms = value.GetInt32() }; break;
                    case "maximumnumberoftokensparsed": options = options with { MaxTokensParsed = value.GetInt32() }; break;
                    case "minimumwordlength": options = options with { MinWordLength = value.GetInt32() }; break;
                    case "maximumwordlength": options = options with { MaxWordLength = value.GetInt32() }; break;
                    case "minimumdocumentfrequency": options = options with { MinDocumentFrequency = value.GetInt32() }; break;
                    case "maximumdocumentfrequency": options = options with { MaxDocumentFrequency = value.GetInt64() }; break;
                    case "maximumdocumentfrequencypercentage":
                        options = options with
                        {
                            MaxDocumentFrequencyPercentage = value.GetInt32()
                        }; break;
                    case "boost": options = options with { Boost = value.GetBoolean() }; break;
                    case "boostfactor": options = options with { BoostFactor = value.GetSingle() }; break;
                    case "stopwords": options = options with { StopWords = [.. options.StopWords, .. Strings(value)] }; break;
                    case "stopwordsdocumentid":
                        options = options with
                        {
                            StopWords = [.. options.StopWords, .. StopWordsOf(value.GetString() ?? "", expression.Position)]
                        }; break;
                    default:
                        throw RqlErrors.At(query.Text, expression.Position, $"'moreLikeThis()' has no option '{option.Name}'.");
                }
            }

            return (options, paths);
        }
        catch (Exception error) when (error is JsonException or InvalidOperationException or FormatException)
        {
            throw RqlErrors.At(
                query.Text, expression.Position,
                $"The options of 'moreLikeThis()' are an object such as {{\"MinimumTermFrequency\":1}}: {error.Message}");
        }
    }

    private static IReadOnlyList<string> Strings(JsonElement array) =>
        [.. array.EnumerateArray().Select(element => element.GetString() ?? "")];

    private IReadOnlyList<Expression> Arguments(MethodExpression method, int least, int most, string example)
    {
        int given = method.Arguments.Count;
        return given >= least && given <= most
            ? [.. method.Arguments.Select(argument => argument.Value)]
            : throw RqlErrors.At(query.Text, method.Position, $"'{method.Name}()' takes other arguments: {example}.");
    }
}
