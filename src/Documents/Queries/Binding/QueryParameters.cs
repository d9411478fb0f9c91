using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text.Json;
using Treepie.Indexing.Queries;
using Treepie.Queries.Filters;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>The values of a query: literals and parameters.</summary>
internal sealed class QueryParameters(
    RqlQuery query, JsonElement given, BindingContext context, CancellationToken cancellationToken = default)
{
    /// <summary>Up to this number of lookups search the parameters linearly; more build a dictionary.</summary>
    private const int FewAsked = 8;

    private Dictionary<string, JsonElement>? _byName;

    /// <summary>Reads the shapes of the query.</summary>
    [field: MaybeNull]
    public ShapeReader Shapes => field ??= new ShapeReader(context.MaxShapeCorners, cancellationToken);

    /// <summary>Whether a value was read from compare-exchange, and so may change.</summary>
    public bool ReadsCompareExchange { get; private set; }

    /// <summary>How many times a value that is not in the text was read.</summary>
    public int Asked { get; private set; }

    /// <summary>Returns a single value to compare with.</summary>
    public FieldValue Value(Expression expression) => expression switch
    {
        LiteralExpression literal => OfLiteral(literal),
        ParameterExpression parameter => OfJson(Find(parameter), parameter),
        MethodExpression { Arguments: [var key] } method when method.Is("cmpxchg") && context.BeginRead is not null =>
            OfCompareExchange(Text(key.Value, "a key"), method),
        PathExpression path => throw RqlErrors.At(
            query.Text, path.Position,
            $"'{path}' is a field, and an index answers what is compared with a value; a text is written in quotes. "
                + ExaminedConditions.WayOut(query)),
        MethodExpression method => throw FunctionNames.NotHere(query, method, "where a value to compare with is expected"),
        _ => throw RqlErrors.At(query.Text, expression.Position, "Expected a value."),
    };

    /// <summary>Returns the values of a list; an array parameter is replaced by its elements.</summary>
    public List<FieldValue> Values(IReadOnlyList<Expression> expressions)
    {
        var values = new List<FieldValue>(expressions.Count);
        foreach (Expression expression in expressions)
        {
            if (expression is ParameterExpression parameter && Find(parameter) is { ValueKind: JsonValueKind.Array } array)
                foreach (JsonElement element in array.EnumerateArray())
                    values.Add(OfJson(element, parameter));
            else
                values.Add(Value(expression));
        }

        return values;
    }

    /// <summary>Returns a string value.</summary>
    public string Text(Expression expression, string what) =>
        Value(expression) is { Kind: FieldValueKind.Text, Text: { } value }
            ? value
            : throw RqlErrors.At(query.Text, expression.Position, $"Expected {what}: a string.");

    /// <summary>Returns a non-negative number.</summary>
    public double NumberFromZero(Expression expression, string what)
    {
        FieldValue value = Value(expression);
        double number = value.Kind switch
        {
            FieldValueKind.Long => value.Long,
            FieldValueKind.Double => value.Double,
            _ =>
            double.NaN
        };
        return number >= 0
            ? number
            : throw RqlErrors.At(query.Text, expression.Position, $"Expected {what}: a number from 0 on.");
    }

    /// <summary>Returns a non-negative integer, or <paramref name="otherwise"/> if none is given.</summary>
    public long Count(Expression? expression, string clause, long otherwise)
    {
        if (expression is null)
            return otherwise;

        FieldValue value = Value(expression);
        return value.Kind switch
        {
            FieldValueKind.Null => otherwise, // clients that set one half of 'limit $skip, $take' send null for the other
            FieldValueKind.Long when value.Long >= 0 => value.Long,
            FieldValueKind.Double when value.Double >= 0 && Math.Truncate(value.Double) == value.Double => (long)value.Double,
            _ => throw RqlErrors.At(query.Text, expression.Position, $"'{clause}' takes a whole number from 0."),
        };
    }

    /// <summary>Returns a parameter that is an object.</summary>
    public JsonElement Object(ParameterExpression parameter, string what) =>
        Find(parameter) is { ValueKind: JsonValueKind.Object } found
            ? found
            : throw RqlErrors.At(query.Text, parameter.Position, $"Expected {what}: an object.");

    /// <summary>Returns a value as JSON.</summary>
    public byte[] Json(Expression expression) => expression switch
    {
        LiteralExpression literal => System.Text.Encoding.UTF8.GetBytes(literal.Text),
        ParameterExpression parameter => System.Text.Encoding.UTF8.GetBytes(Find(parameter).GetRawText()),
        _ => throw RqlErrors.At(query.Text, expression.Position, "Expected a value."),
    };

    /// <summary>Returns a parameter as given.</summary>
    public JsonElement Element(ParameterExpression parameter) => Find(parameter);

    private FieldValue OfCompareExchange(string key, MethodExpression method)
    {
        ReadsCompareExchange = true;
        Asked++; // counts like a parameter: the text does not determine its value
        if (context.CompareExchange(key) is not { } held)
            return FieldValue.Null;
        using var json = JsonDocument.Parse(held, new JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth + 1 });
        return OfJson(json.RootElement, method);
    }

    private JsonElement Find(ParameterExpression parameter)
    {
        Asked++;
        JsonElement value = default;
        bool isFound = given.ValueKind == JsonValueKind.Object
            && (Asked <= FewAsked
                ? given.TryGetProperty(parameter.Name, out value)
                : (_byName ??= ByName()).TryGetValue(parameter.Name, out value));
        return isFound
            ? value
            : throw RqlErrors.At(
                query.Text, parameter.Position, $"The query uses the parameter ${parameter.Name}, but no value is given for it.");
    }

    private Dictionary<string, JsonElement> ByName()
    {
        var byName = new Dictionary<string, JsonElement>(StringComparer.Ordinal);
        foreach (JsonProperty property in given.EnumerateObject())
            byName[property.Name] = property.Value; // the last of duplicate names wins
        return byName;
    }

    private FieldValue OfLiteral(LiteralExpression literal) => literal.Kind switch
    {
        LiteralKind.String => FieldValue.Of(literal.Text),
        LiteralKind.True => FieldValue.Of(true),
        LiteralKind.False => FieldValue.Of(false),
        LiteralKind.Null => FieldValue.Null,
        _ when long.TryParse(literal.Text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long whole) =>
            FieldValue.Of(whole),
        _ when double.TryParse(literal.Text, NumberStyles.Float, CultureInfo.InvariantCulture, out double real)
            && double.IsFinite(real) => FieldValue.Of(real),
        _ => throw RqlErrors.TooLarge(query.Text, literal.Position),
    };

    private FieldValue OfJson(JsonElement json, Expression from)
    {
        switch (json.ValueKind)
        {
            case JsonValueKind.String:
                return FieldValue.Of(json.GetString() ?? "");
            case JsonValueKind.Number:
                return json.TryGetInt64(out long whole) ? FieldValue.Of(whole) : FieldValue.Of(json.GetDouble());
            case JsonValueKind.True:
            case JsonValueKind.False:
                return FieldValue.Of(json.ValueKind == JsonValueKind.True);
            case JsonValueKind.Null:
            case JsonValueKind.Undefined:
                return FieldValue.Null;
            default:
                string kind = json.ValueKind == JsonValueKind.Array ? "an array" : "an object";
                throw RqlErrors.At(
                    query.Text, from.Position,
                    $"{(from is ParameterExpression parameter ? $"The parameter ${parameter.Name}" : "The compare-exchange "
                        + "value")} "
                        + $"is {kind}; a string, a number, a boolean or null can be compared with. "
                        + $"Arrays go with 'in' and 'all in'.");
        }
    }
}
