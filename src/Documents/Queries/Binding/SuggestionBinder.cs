using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Suggestions;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Binds <c>suggest(…)</c> of SELECT: a field, a text or several as a parameter, options as a parameter. On a collection it
/// suggests whole values, or words with <c>suggest(search(F), …)</c>; on a named index it suggests words if the field is
/// analyzed.
/// </summary>
internal sealed class SuggestionBinder(RqlQuery query, QueryParameters parameters, FieldBinder fields)
{
    /// <summary>The maximum number of suggestions in a query, and of texts in a suggestion.</summary>
    public const int MaxSuggestions = 256;

    /// <summary>Whether a method of SELECT is a suggestion.</summary>
    public static bool IsSuggestion(Expression expression) => expression is MethodExpression method && method.Is("suggest");

    /// <summary>Binds the suggestions of SELECT; empty if there are none.</summary>
    /// <exception cref="InvalidQueryException">Suggestions are mixed with other items, or are malformed.</exception>
    public IReadOnlyList<BoundSuggestion> Bind()
    {
        if (query.Select is not { } select || !select.Items.Any(item => IsSuggestion(item.Value)))
            return [];
        if (select.Items.FirstOrDefault(item => !IsSuggestion(item.Value)) is { } other)
            throw RqlErrors.At(query.Text, other.Value.Position, "'suggest()' in 'select' stands beside other suggestions only.");
        if (query.Where is { } where)
            throw RqlErrors.At(
                query.Text, where.Position,
                "'suggest()' looks at all terms of a field, whatever a condition leaves: leave out 'where'.");
        if (select.Distinct || query.OrderBy.Count > 0)
            throw RqlErrors.At(
                query.Text, select.Position,
                "Neither 'distinct' nor 'order by' has a meaning for suggestions: their order is in the options ('SortMode').");
        if (select.Items.Count > MaxSuggestions)
            throw RqlErrors.At(query.Text, select.Position, $"A query has at most {MaxSuggestions} suggestions.");
        // all items are suggestions
        return [.. select.Items.Select(item => BindItem((MethodExpression)item.Value, item.Alias))];
    }

    private BoundSuggestion BindItem(MethodExpression method, string? alias)
    {
        if (method.Arguments.Count is < 2 or > 3)
            throw RqlErrors.At(
                query.Text, method.Position,
                "'suggest()' takes a field and a text: suggest(Name, 'anna'), suggest(Name, $texts, $options).");

        Expression operand = method.Arguments[0].Value;
        bool isOfWords = operand is MethodExpression search && search.Is("search") && search.Arguments.Count == 1;
        if (isOfWords)
            operand = ((MethodExpression)operand).Arguments[0].Value; // checked above
        AutoIndexField field = fields.Field(
            operand, isOfWords || query.From.IsIndex ? AutoIndexFieldKind.Search : AutoIndexFieldKind.Value);
        if (!field.HasTerms)
            throw RqlErrors.At(
                query.Text, operand.Position, $"The field '{field.SchemaName}' has no terms that could be suggested.");

        List<FieldValue> texts = parameters.Values([method.Arguments[1].Value]);
        if (texts.Count > MaxSuggestions || texts.Exists(text => text.Kind != FieldValueKind.Text))
            throw RqlErrors.At(
                query.Text, method.Arguments[1].Value.Position,
                $"Expected the text to suggest for: a string, or an array of at most {MaxSuggestions} strings.");

        var request = new SuggestionRequest { Field = field.SchemaName, Text = "" };
        if (method.Arguments.Count == 3)
            request = ReadOptions(method.Arguments[2].Value, request);
        return new BoundSuggestion(alias ?? fields.NameOf(operand), [.. texts.Select(text => text.Text ?? "")], request);
    }

    /// <summary>Reads the options that clients send as <c>SuggestionOptions</c>.</summary>
    private SuggestionRequest ReadOptions(Expression expression, SuggestionRequest request)
    {
        try
        {
            using JsonDocument json = JsonDocument.Parse(parameters.Json(expression));
            if (json.RootElement.ValueKind == JsonValueKind.Null)
                return request;
            foreach (JsonProperty option in json.RootElement.EnumerateObject())
            {
                if (option.Value.ValueKind == JsonValueKind.Null)
                    continue;
                request = option.Name.ToLowerInvariant() switch
                {
                    "accuracy" => request with { Accuracy = Accuracy(option.Value, expression) },
                    "pagesize" => request with { Take = PageSize(option.Value, expression) },
                    "distance" => request with { Distance = Word<SuggestionDistance>(option, expression) },
                    "sortmode" =>
                        request with { ByPopularity = Word<SuggestionOrder>(option, expression) == SuggestionOrder.Popularity },
                    _ => throw RqlErrors.At(
                        query.Text, expression.Position,
                        $"'suggest()' has no option '{option.Name}'; there are Accuracy, PageSize, Distance and SortMode."),
                };
            }

            return request;
        }
        catch (Exception error) when (error is JsonException or InvalidOperationException or FormatException)
        {
            throw RqlErrors.At(
                query.Text, expression.Position,
                $"The options of 'suggest()' are an object such as {{\"Accuracy\":0.5,\"PageSize\":10}}: {error.Message}");
        }
    }

    private float Accuracy(JsonElement value, Expression expression) => value.GetSingle() is >= 0 and <= 1 and var accuracy
        ? accuracy
        : throw RqlErrors.At(query.Text, expression.Position, "The 'Accuracy' of 'suggest()' is a number from 0 to 1.");

    private int PageSize(JsonElement value, Expression expression) =>
        value.TryGetInt32(out int size) && size is >= 0 and <= SuggestionRequest.MaxTake
            ? size
            : throw RqlErrors.At(
                query.Text, expression.Position,
                $"The 'PageSize' of 'suggest()' is a whole number from 0 to {SuggestionRequest.MaxTake:N0}.");

    private T Word<T>(JsonProperty option, Expression expression)
        where T : struct, Enum =>
        Enum.TryParse(option.Value.GetString(), ignoreCase: true, out T value) && Enum.IsDefined(value)
            ? value
            : throw RqlErrors.At(
                query.Text, expression.Position,
                $"The '{option.Name}' of 'suggest()' is one of {string.Join(", ", Enum.GetNames<T>())}.");

    /// <summary>The sort modes as clients name them. None sorts by similarity alone.</summary>
    private enum SuggestionOrder
    {
        None,
        Popularity,
    }
}
