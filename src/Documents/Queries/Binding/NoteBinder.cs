using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexing.Highlighting;
using Treepie.Indexing.Queries;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Binds the INCLUDE methods that annotate results: <c>highlight(F, length, count[, options])</c> and
/// <c>explanations([options])</c>.
/// </summary>
internal sealed class NoteBinder(RqlQuery query, QueryParameters parameters, FieldBinder fields)
{
    /// <summary>The maximum fragment length, in characters.</summary>
    public const int MaxFragmentLength = 64 * 1024;

    /// <summary>The maximum number of fragments per result and field.</summary>
    public const int MaxFragments = 1_024;

    private readonly List<HighlightRequest> _highlights = [];

    public IReadOnlyList<HighlightRequest> Highlights => _highlights;

    public bool WantsExplanations { get; private set; }

    /// <summary>The path of the key that groups explanations in the result, or null for the document id.</summary>
    public FieldPath? ExplanationKey { get; private set; }

    /// <summary>Binds a method of INCLUDE. Returns false if it is none of these.</summary>
    public bool TryBind(MethodExpression method)
    {
        if (method.Is("explanations"))
        {
            WantsExplanations = true;
            if (NamedObjects is not null) // documents are told by their ids
                ExplanationKey = (method.Arguments is [{ } options] ? ReadOptions(method, options.Value, new()).Key : null)
                    ?? throw NoKey(method, "explanations($o)");
            return true;
        }

        if (!method.Is("highlight"))
            return false;
        BindHighlight(method);
        return true;
    }

    /// <summary>The name of the named index if its entries are no documents, and so have no ids; otherwise null.</summary>
    private string? NamedObjects => query.From.IsIndex && fields.Index is { KeepsObjects: true } index ? index.Name : null;

    private InvalidQueryException NoKey(MethodExpression method, string example) => RqlErrors.At(
        query.Text, method.Position,
        $"The results of '{NamedObjects}' are no documents and have no id: '{method.Name}()' takes a field of theirs as the key, "
            + $"as in {example} where $o is {{\"GroupKey\":\"City\"}}.");

    private void BindHighlight(MethodExpression method)
    {
        IReadOnlyList<MethodArgument> arguments = method.Arguments;
        if (arguments.Count is < 3 or > 4)
            throw RqlErrors.At(
                query.Text, method.Position,
                "'highlight()' takes a field, the length of a fragment and how many: highlight(Notes, 128, 2).");

        FieldPath path = arguments[0].Value switch
        {
            PathExpression expression => fields.Path(expression),
            LiteralExpression { Kind: LiteralKind.String } literal => fields.Path(literal.Text, literal.Position),
            _ => throw RqlErrors.At(query.Text, arguments[0].Value.Position, "Expected the field to highlight."),
        };
        var options = new HighlightOptions
        {
            FragmentLength = Number(
                arguments[1].Value, HighlightOptions.MinFragmentLength, MaxFragmentLength, "The length of a fragment"),
            FragmentCount = Number(arguments[2].Value, 1, MaxFragments, "The number of fragments"),
        };
        FieldPath? key = null;
        if (arguments.Count == 4)
            (options, key) = ReadOptions(method, arguments[3].Value, options);
        if (key is null && NamedObjects is not null)
            throw NoKey(method, "highlight(Notes, 128, 2, $o)");

        // Use the form of the field that the condition uses: its words if it searches, else its values.
        AutoIndexFieldKind kind = fields.IsUsed(path, AutoIndexFieldKind.Search) ? AutoIndexFieldKind.Search
            : fields.IsUsed(path, AutoIndexFieldKind.Exact) ? AutoIndexFieldKind.Exact : AutoIndexFieldKind.Value;
        AutoIndexField field = fields.Field(
            new LiteralExpression(arguments[0].Value.Position, LiteralKind.String, path.Text), kind);
        // a named index gives paths other names
        _highlights.Add(new HighlightRequest(path.Text, field.SchemaName, field.FieldPath ?? path, key, options));
    }

    private int Number(Expression expression, int least, int most, string what) =>
        parameters.Value(expression) is { Kind: FieldValueKind.Long } value && value.Long >= least && value.Long <= most
            ? (int)value.Long
            : throw RqlErrors.At(query.Text, expression.Position, $"{what} is a whole number from {least} to {most:N0}.");

    private (HighlightOptions Options, FieldPath? Key) ReadOptions(
        MethodExpression method, Expression expression, HighlightOptions options)
    {
        try
        {
            using JsonDocument json = JsonDocument.Parse(parameters.Json(expression));
            FieldPath? key = null;
            foreach (JsonProperty option in json.RootElement.EnumerateObject())
            {
                if (option.Value.ValueKind == JsonValueKind.Null)
                    continue;
                switch (option.Name.ToLowerInvariant()) // clients send option names in either case
                {
                    case "pretags" when option.Value.GetArrayLength() > 0:
                        options = options with { PreTags = Strings(option.Value) };
                        break;
                    case "posttags" when option.Value.GetArrayLength() > 0:
                        options = options with { PostTags = Strings(option.Value) };
                        break;
                    case "groupkey":
                        key = fields.Path(option.Value.GetString() ?? "", expression.Position);
                        break;
                }
            }

            return (options, key);
        }
        catch (Exception error) when (error is JsonException or InvalidOperationException)
        {
            throw RqlErrors.At(
                query.Text, expression.Position,
                $"The options of '{method.Name}()' are an object such as {{\"PreTags\":[\"<b>\"],\"PostTags\":[\"</b>\"]}}: "
                    + $"{error.Message}");
        }
    }

    private static IReadOnlyList<string> Strings(JsonElement array) =>
        [.. array.EnumerateArray().Select(element => element.GetString() ?? "")];
}
