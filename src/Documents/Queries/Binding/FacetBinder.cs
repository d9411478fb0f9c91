using System.Globalization;
using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexing.Queries;
using Treepie.Queries.Filters;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Binds <c>facet(…)</c> of SELECT: a field whose terms are counted or conditions on one, then aggregates of other fields, then
/// options as a parameter. Also binds facets that a document defines: <c>facet(id('facets/Cameras'))</c>.
/// </summary>
internal sealed class FacetBinder(
    RqlQuery query, QueryParameters parameters, FieldBinder fields, ConditionBinder conditions,
    Func<string, byte[]?> loadDocument, ExaminedValues? examined)
{
    /// <summary>The maximum number of facets in a query, and of ranges in a facet.</summary>
    public const int MaxFacets = 1_024;

    /// <summary>Name of the only group of a facet that has just aggregates, and the default name of that facet.</summary>
    public const string AllResults = "@AllResults";

    private readonly List<BoundFacet> _facets = [];

    /// <summary>Whether a method of SELECT is a facet.</summary>
    public static bool IsFacet(Expression expression) => expression is MethodExpression method && method.Is("facet");

    /// <summary>Whether a method of a facet is an aggregate of a field.</summary>
    public static bool IsSum(MethodExpression method) => KindOf(method.Name) != FacetSumKinds.None;

    /// <summary>Whether SELECT has facets.</summary>
    public static bool AreWanted(SelectClause select) => select.Items.Any(static item => IsFacet(item.Value));

    /// <summary>Binds a SELECT that has facets.</summary>
    /// <exception cref="InvalidQueryException">Facets are mixed with other items, or are malformed.</exception>
    public IReadOnlyList<BoundFacet> Bind(SelectClause select)
    {
        if (select.Items.FirstOrDefault(item => !IsFacet(item.Value)) is { } other)
            throw RqlErrors.At(
                query.Text, other.Value.Position, "'facet()' in 'select' counts hits and stands beside other facets only.");
        if (select.Distinct)
            throw RqlErrors.At(query.Text, select.Position, "'distinct' has no meaning for facets.");

        foreach (AliasedExpression item in select.Items)
            BindFacet((MethodExpression)item.Value, item.Alias); // all items are facets
        return _facets;
    }

    private void Add(BoundFacet facet, int position)
    {
        if (_facets.Count == MaxFacets || facet.Query.Ranges.Count > MaxFacets)
            throw RqlErrors.At(query.Text, position, $"A query has at most {MaxFacets:N0} facets, and a facet as many ranges.");
        _facets.Add(facet);
    }

    private void BindFacet(MethodExpression method, string? alias)
    {
        List<Expression> arguments = [.. method.Arguments.Select(argument => argument.Value)];
        if (arguments.Count == 0)
            throw RqlErrors.At(
                query.Text, method.Position,
                "'facet()' takes a field, conditions over one, or the id of a document with facets: facet(Brand), facet(Price < "
                    + "10, Price >= 10), facet(id('facets/Cameras')).");
        if (arguments is [MethodExpression id] && id.Is("id") && id.Arguments is [{ Value: { } given }]
            && examined?.Takes(id) != true)
        {
            BindSetup(parameters.Text(given, "the id of a document with facets"), method.Position);
            return;
        }

        JsonElement options = default;
        if (arguments.Count > 1 && arguments[^1] is ParameterExpression parameter)
        {
            options = parameters.Object(parameter, "the options of 'facet()'");
            arguments.RemoveAt(arguments.Count - 1);
        }

        var sums = new List<FacetSums>();
        int own = arguments.Count;
        while (own > 0 && arguments[own - 1] is MethodExpression sum && IsSum(sum))
            own--;
        foreach (Expression sum in arguments.Skip(own))
            AddSum(sums, (MethodExpression)sum, method.Arguments.First(argument => ReferenceEquals(argument.Value, sum)).Alias);
        Add(BindOwn(arguments.GetRange(0, own), alias, sums, options, method), method.Position);
    }

    private BoundFacet BindOwn(
        List<Expression> own, string? alias, List<FacetSums> sums, JsonElement options, MethodExpression method)
    {
        if (own.Count == 0)
            return OfAllResults(alias, sums);
        if (own is [{ } only] && TryBindTerms(only, alias, sums, options, method.Position) is { } terms)
            return terms;

        foreach (Expression range in own)
            if (range is not (CompareExpression or BetweenExpression or AndExpression or InExpression))
                throw FunctionNames.Unknown(query, range) ?? RqlErrors.At(
                    query.Text, range.Position,
                    "Expected a condition over a field, as in facet(Price < 10, Price between 10 and 20), or sum(), min(), "
                        + "max(), avg() of a field.");

        RequireOneField(own, position: null);
        return BindRanges(own, alias, sums);
    }

    /// <summary>Binds a facet of terms. Returns null if the expression is no field and no value.</summary>
    private BoundFacet? TryBindTerms(Expression of, string? name, List<FacetSums> sums, JsonElement options, int position)
    {
        FacetQuery terms = WithOptions(new FacetQuery { Aggregates = [.. sums.Select(sum => sum.Field)] }, options, position);
        bool isField = of is PathExpression or LiteralExpression { Kind: LiteralKind.String };
        if ((isField || of is MethodExpression) && examined?.TryBind(of, name) is { } value)
            return new BoundFacet(
                name ?? (of is MethodExpression call && query.Declares(call) ? call.Name : value.Name), terms, sums,
                UtcTexts.Is(of))
            {
                Examined = new ExaminedFacet(value, [])
            };
        if (!isField && !(of is MethodExpression method && (fields.IsId(method) || ComputedOperand.Of(query, of) is not null)))
            return null;
        AutoIndexField field = fields.Field(of, AutoIndexFieldKind.Value);
        return new BoundFacet(
            name ?? fields.NameOf(of), terms with { Field = field.SchemaName }, sums, field.Kind == AutoIndexFieldKind.Utc);
    }

    /// <summary>
    /// Binds a facet of ranges. Conditions that the index does not answer are examined, and so are those beside them.
    /// </summary>
    /// <param name="ranges">The conditions.</param>
    /// <param name="name">The name of the facet, or null.</param>
    /// <param name="sums">The aggregates.</param>
    /// <param name="texts">The names of the ranges; null for their conditions.</param>
    private BoundFacet BindRanges(
        IReadOnlyList<Expression> ranges, string? name, List<FacetSums> sums, string[]? texts = null)
    {
        bool isExamined = examined is not null && ranges.Any(IsExamined);
        var facet = new BoundFacet(
            name ?? (ranges.Count > 0 ? FieldOf(ranges[0]) : null) ?? "",
            new FacetQuery
            {
                Ranges = [
                    .. ranges.Select((range, i) => new FacetRange(
                        texts?[i] ?? TextOf(range), isExamined ? new MatchNoneQuery() : conditions.Bind(range)))],
                Aggregates = [.. sums.Select(sum => sum.Field)],
            },
            sums);
        return isExamined
            ? facet with { Examined = new ExaminedFacet(null, [.. ranges.Select(Filter)]) }
            : facet;
    }

    /// <summary>Whether a range compares what the index does not have with values.</summary>
    private bool IsExamined(Expression range) => range switch
    {
        CompareExpression compare => examined?.TryBind(compare.Left, "range") is not null,
        BetweenExpression between => examined?.TryBind(between.Operand, "range") is not null,
        InExpression list => examined?.TryBind(list.Operand, "range") is not null,
        AndExpression all => all.Clauses.Any(IsExamined),
        _ => false,
    };

    private DocumentFilter Filter(Expression range) =>
        !FilterNeeds.Script(query, range) && DocumentFilter.Of(query, range, parameters.Element) is { } filter
            ? filter
            : throw RqlErrors.At(
                query.Text, range.Position,
                "The ranges of a facet are of fields and of functions of fields. Of counters, loaded documents and functions of "
                    + "the query, count the values: facet(counter('Likes')).");

    /// <summary>Checks that all ranges of a facet are on the same field, because the facet is named after it.</summary>
    /// <param name="ranges">The ranges.</param>
    /// <param name="position">Where to report an error, or null for the offending range.</param>
    private void RequireOneField(IReadOnlyList<Expression> ranges, int? position)
    {
        string? first = null;
        foreach (Expression condition in ranges.SelectMany(static range => range is AndExpression all ? all.Clauses : [range]))
        {
            if (FieldOf(condition) is not { } name)
                continue;
            first ??= name;
            if (name != first)
            {
                throw RqlErrors.At(
                    query.Text,
                    position ?? condition.Position,
                    $"The ranges of a facet are of one field: this one is of '{name}', those before of '{first}'. "
                    + $"Write a facet for each: facet({first} …), facet({name} …).");
            }
        }
    }

    private static BoundFacet OfAllResults(string? name, List<FacetSums> sums) =>
        new(
            name ?? AllResults,
            new FacetQuery
            {
                Ranges = [new FacetRange(AllResults, new MatchAllQuery())],
                Aggregates = [.. sums.Select(sum => sum.Field)]
            },
            sums);

    private void AddSum(List<FacetSums> sums, MethodExpression method, string? alias)
    {
        if (method.Arguments is not [{ Value: PathExpression or LiteralExpression { Kind: LiteralKind.String } } argument])
            throw RqlErrors.At(query.Text, method.Position, $"'{method.Name}()' of a facet takes a field.");
        string field = fields.Field(argument.Value, AutoIndexFieldKind.Value).SchemaName;
        AddSum(sums, field, alias ?? fields.NameOf(argument.Value), KindOf(method.Name));
    }

    private static void AddSum(List<FacetSums> sums, string field, string name, FacetSumKinds kind)
    {
        int place = sums.FindIndex(sum => sum.Field == field);
        if (place < 0)
            sums.Add(new FacetSums(field, name, kind));
        else
            sums[place] = sums[place] with { Kinds = sums[place].Kinds | kind };
    }

    private static FacetSumKinds KindOf(string name) => name.ToUpperInvariant() switch
    {
        "SUM" => FacetSumKinds.Sum,
        "MIN" => FacetSumKinds.Min,
        "MAX" => FacetSumKinds.Max,
        "AVG" or "AVERAGE" => FacetSumKinds.Average,
        _ => FacetSumKinds.None,
    };

    private string TextOf(Expression range) => range switch
    {
        CompareExpression compare => $"{fields.NameOf(compare.Left)} {compare.Sign} {ValueOf(compare.Right)}",
        BetweenExpression between =>
            $"{fields.NameOf(between.Operand)} between {ValueOf(between.Low)} and {ValueOf(between.High)}",
        AndExpression all => string.Join(" and ", all.Clauses.Select(TextOf)),
        InExpression list =>
            $"{fields.NameOf(list.Operand)} in ({string.Join(", ", parameters.Values(list.Values).Select(Text))})",
        _ => throw RqlErrors.At(query.Text, range.Position, "Expected a condition that compares a field with values."),
    };

    private string ValueOf(Expression value) => Text(parameters.Value(value));

    private static string Text(FieldValue value) => value.Kind switch
    {
        FieldValueKind.Text => $"'{value.Text}'",
        FieldValueKind.Long => value.Long.ToString(CultureInfo.InvariantCulture),
        FieldValueKind.Double => value.Double.ToString("R", CultureInfo.InvariantCulture),
        FieldValueKind.Boolean => value.Boolean ? "true" : "false",
        _ => "null",
    };

    private string? FieldOf(Expression range) => range switch
    {
        CompareExpression compare => fields.NameOf(compare.Left),
        BetweenExpression between => fields.NameOf(between.Operand),
        InExpression list => fields.NameOf(list.Operand),
        AndExpression { Clauses: [{ } first, ..] } => FieldOf(first),
        _ => null,
    };

    private FacetQuery WithOptions(FacetQuery facet, JsonElement options, int position)
    {
        if (options.ValueKind != JsonValueKind.Object)
            return facet;

        foreach (JsonProperty option in options.EnumerateObject())
        {
            facet = option.Name.ToUpperInvariant() switch
            {
                "TERMSORTMODE" => facet with { Order = OrderOf(option.Value, position) },
                "START" => facet with { Start = Number(option, position) },
                "PAGESIZE" => facet with { PageSize = Number(option, position) },
                "INCLUDEREMAININGTERMS" => facet with { WithRemainingTerms = option.Value.ValueKind == JsonValueKind.True },
                _ => throw RqlErrors.At(
                    query.Text, position,
                    $"A facet has no option '{option.Name}'. There are: TermSortMode, Start, PageSize, IncludeRemainingTerms."),
            };
        }

        return facet;
    }

    // GetString is not null: the value is a string
    private FacetOrder OrderOf(JsonElement mode, int position) =>
        (mode.ValueKind == JsonValueKind.String ? mode.GetString()! : "").ToUpperInvariant() switch
        {
            "VALUEASC" => FacetOrder.Value,
            "VALUEDESC" => FacetOrder.ValueDescending,
            "COUNTASC" => FacetOrder.Count,
            "COUNTDESC" => FacetOrder.CountDescending,
            _ => throw RqlErrors.At(
                query.Text, position,
                $"A facet's TermSortMode is ValueAsc, ValueDesc, CountAsc or CountDesc; {mode.GetRawText()} is given."),
        };

    private int Number(JsonProperty option, int position) =>
        option.Value.ValueKind == JsonValueKind.Number && option.Value.TryGetInt32(out int number) && number >= 0
            ? number
            : throw RqlErrors.At(
                query.Text, position, $"A facet's {option.Name} is a whole number from 0; {option.Value.GetRawText()} is given.");

    /// <summary>
    /// Binds the facets of a document in the format that clients store: <c>Facets</c> on fields, and <c>RangeFacets</c> with
    /// conditions as text.
    /// </summary>
    private void BindSetup(string id, int position)
    {
        byte[] body = loadDocument(id) ?? throw RqlErrors.At(query.Text, position, $"There is no document '{id}' with facets.");
        using var document = JsonDocument.Parse(body);
        int before = _facets.Count;
        foreach (JsonElement facet in Elements(document.RootElement, "Facets"))
        {
            List<FacetSums> sums = SumsIn(facet, position);
            if (TextIn(facet, "FieldName") is not { } name)
            {
                if (sums.Count == 0)
                    throw RqlErrors.At(
                        query.Text, position,
                        $"A facet of the document '{id}' lacks 'FieldName', and has no 'Aggregations' of all results.");
                Add(OfAllResults(TextIn(facet, "DisplayFieldName"), sums), position);
                continue;
            }

            string shown = TextIn(facet, "DisplayFieldName") ?? name;
            if (TryBindTerms(OperandOf(name, position), shown, sums, Member(facet, "Options"), position) is { } terms)
                Add(terms, position);
        }

        foreach (JsonElement facet in Elements(document.RootElement, "RangeFacets"))
        {
            JsonElement[] given = Elements(facet, "Ranges");
            Expression[] ranges = [.. given.Select(range => ParseRange(range, id, position))];
            RequireOneField(ranges, position);
            string[] texts = [.. given.Select(static range => range.GetString() ?? "")]; // ParseRange refused others
            Add(BindRanges(ranges, TextIn(facet, "DisplayFieldName"), SumsIn(facet, position), texts), position);
        }

        if (_facets.Count == before)
            throw RqlErrors.At(
                query.Text, position, $"The document '{id}' has no facets: expected are members 'Facets' and 'RangeFacets'.");
    }

    /// <summary>The field of a facet, which needs no quotes, or a function as in a query.</summary>
    private Expression OperandOf(string name, int position)
    {
        try
        {
            var lexer = new RqlLexer(name);
            if (name.EndsWith(')')
                && new ExpressionParser(lexer).ParseOperand("a field") is var call
                && lexer.Is(RqlTokenKind.End)
                && (ComputedOperand.Of(query, call) is not null || examined?.Takes(call) == true))
                return call;
        }
        catch (InvalidQueryException)
        {
            // a field of that name
        }

        return new LiteralExpression(position, LiteralKind.String, name);
    }

    private Expression ParseRange(JsonElement range, string id, int position)
    {
        string text = range.ValueKind == JsonValueKind.String ? range.GetString()! : ""; // not null: the value is a string
        try
        {
            return RqlParser.Parse($"from '@all_docs' where {text}").Where!; // the text has a WHERE
        }
        catch (InvalidQueryException error)
        {
            throw RqlErrors.At(
                query.Text, position, $"The range {range.GetRawText()} of the document '{id}' is no condition: {error.Message}");
        }
    }

    private List<FacetSums> SumsIn(JsonElement facet, int position)
    {
        var sums = new List<FacetSums>();
        if (Member(facet, "Aggregations") is not { ValueKind: JsonValueKind.Object } aggregations)
            return sums;

        foreach (JsonProperty kind in aggregations.EnumerateObject())
        {
            if (KindOf(kind.Name) is var sum && sum == FacetSumKinds.None)
                continue;
            foreach (JsonElement item in kind.Value.ValueKind == JsonValueKind.Array
                ? kind.Value.EnumerateArray().ToArray()
                : [kind.Value])
            {
                string? name = item.ValueKind == JsonValueKind.String ? item.GetString() : TextIn(item, "Name");
                if (name is null)
                    continue;
                string field =
                    fields.Field(new LiteralExpression(position, LiteralKind.String, name), AutoIndexFieldKind.Value).SchemaName;
                AddSum(sums, field, TextIn(item, "DisplayName") ?? name, sum);
            }
        }

        return sums;
    }

    private static JsonElement[] Elements(JsonElement parent, string name) =>
        Member(parent, name) is { ValueKind: JsonValueKind.Array } array ? [.. array.EnumerateArray()] : [];

    private static string? TextIn(JsonElement parent, string name) =>
        Member(parent, name) is { ValueKind: JsonValueKind.String } text ? text.GetString() : null;

    /// <summary>Finds a member, ignoring case: clients store documents in the case convention of their language.</summary>
    private static JsonElement Member(JsonElement parent, string name)
    {
        if (parent.ValueKind != JsonValueKind.Object)
            return default;
        foreach (JsonProperty member in parent.EnumerateObject())
        {
            if (string.Equals(member.Name, name, StringComparison.OrdinalIgnoreCase))
                return member.Value;
        }

        return default;
    }
}
