using System.Globalization;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Treepie.Rql.Syntax;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// What a query means, said the simplest way: look at every document, decide, sort. Shares nothing with the engine but the syntax tree.
/// </summary>
internal sealed partial class NaiveEvaluator(RqlQuery query, JsonObject parameters)
{
    /// <summary>Whether a document answers the query.</summary>
    public bool Matches(string id, JsonObject document) => query.Where is null || Matches(query.Where, id, document, exact: false);

    /// <summary>Which of two documents comes first; 0 where the query leaves it open.</summary>
    public int Compare((string Id, JsonObject Document) left, (string Id, JsonObject Document) right)
    {
        foreach (OrderKey key in query.OrderBy)
        {
            int order = Compare(SortValue(key, left), SortValue(key, right), key);
            if (order != 0)
                return order;
        }

        return 0;
    }

    private bool Matches(Expression expression, string id, JsonObject document, bool exact) => expression switch
    {
        LiteralExpression { Kind: LiteralKind.True } => true,
        AndExpression and => and.Clauses.All(c => Matches(c, id, document, exact)),
        OrExpression or => or.Clauses.Any(c => Matches(c, id, document, exact)),
        NotExpression not => !Matches(not.Clause, id, document, exact),
        CompareExpression compare => MatchesCompare(compare, Values(compare.Left, id, document), exact),
        BetweenExpression between => MatchesBetween(between, Values(between.Operand, id, document), exact),
        InExpression { All: true } all => Parameters(all.Values).All(v => IsEqual(Values(all.Operand, id, document), v, exact)),
        InExpression any => Parameters(any.Values).Any(v => IsEqual(Values(any.Operand, id, document), v, exact)),
        MethodExpression method => MatchesMethod(method, id, document, exact),
        _ => throw new InvalidOperationException($"No meaning for {expression.GetType().Name}."),
    };

    private bool MatchesMethod(MethodExpression method, string id, JsonObject document, bool exact)
    {
        Expression first = method.Arguments[0].Value;
        switch (method.Name.ToUpperInvariant())
        {
            case "EXACT":
                return Matches(first, id, document, exact: true);
            case "BOOST":
                return Matches(first, id, document, exact);
            case "EXISTS":
                return Values(first, id, document).Count > 0;
            case "STARTSWITH":
                return Texts(Values(first, id, document), exact).Any(t => t.StartsWith(Form(Text(method.Arguments[1].Value), exact), StringComparison.Ordinal));
            case "ENDSWITH":
                return Texts(Values(first, id, document), exact).Any(t => t.EndsWith(Form(Text(method.Arguments[1].Value), exact), StringComparison.Ordinal));
            case "SEARCH":
                var words = Values(first, id, document).SelectMany(v => Words().Matches(v.Text).Select(m => NaiveValue.Fold(m.Value))).ToHashSet();
                List<string> wanted = [.. Words().Matches(Text(method.Arguments[1].Value)).Select(m => NaiveValue.Fold(m.Value))];
                bool all = method.Arguments.Count == 3 && method.Arguments[2].Value.ToString() == "and";
                return all ? wanted.All(words.Contains) : wanted.Any(words.Contains);
            default:
                throw new InvalidOperationException($"No meaning for {method.Name}().");
        }
    }

    private bool MatchesCompare(CompareExpression compare, List<NaiveValue> values, bool exact)
    {
        NaiveValue? value = Parameter(compare.Right);
        return compare.Operator switch
        {
            CompareOperator.Equal => IsEqual(values, value, exact),
            CompareOperator.NotEqual => !IsEqual(values, value, exact),
            CompareOperator.Less => IsInRange(values, null, false, value, false, exact),
            CompareOperator.LessOrEqual => IsInRange(values, null, false, value, true, exact),
            CompareOperator.Greater => IsInRange(values, value, false, null, false, exact),
            _ => IsInRange(values, value, true, null, false, exact),
        } && (value is not null || compare.Operator is CompareOperator.Equal or CompareOperator.NotEqual);
    }

    private bool MatchesBetween(BetweenExpression between, List<NaiveValue> values, bool exact)
    {
        NaiveValue? low = Parameter(between.Low);
        NaiveValue? high = Parameter(between.High);
        return low is not null && high is not null && IsInRange(values, low, true, high, true, exact);
    }

    private static bool IsEqual(List<NaiveValue> values, NaiveValue? wanted, bool exact) => wanted switch
    {
        null => values.Count == 0 || values.Any(v => v.Kind == NaiveKind.Null),
        { Kind: NaiveKind.Number } => values.Any(v => v.Kind == NaiveKind.Number && v.Number == wanted.Number),
        _ => Texts(values, exact).Contains(Form(wanted.Text, exact)),
    };

    private static bool IsInRange(List<NaiveValue> values, NaiveValue? low, bool lowIncluded, NaiveValue? high, bool highIncluded, bool exact)
    {
        if ((low ?? high) is { Kind: NaiveKind.Number })
        {
            return values.Any(v => v.Kind == NaiveKind.Number
                && (low is null || v.Number > low.Number || (lowIncluded && v.Number == low.Number))
                && (high is null || v.Number < high.Number || (highIncluded && v.Number == high.Number)));
        }

        return Texts(values, exact).Any(t => IsAbove(t, low, lowIncluded, exact, 1) && IsAbove(t, high, highIncluded, exact, -1));
    }

    private static bool IsAbove(string text, NaiveValue? bound, bool included, bool exact, int sign)
    {
        int order = bound is null ? 1 : sign * NaiveValue.Compare(text, Form(bound.Text, exact));
        return order > 0 || (included && order == 0);
    }

    private static IEnumerable<string> Texts(List<NaiveValue> values, bool exact) =>
        values.Where(v => v.Kind is NaiveKind.Text or NaiveKind.Number).Select(v => Form(v.Text, exact));

    private static string Form(string text, bool exact) => exact ? text : NaiveValue.Fold(text);

    private List<NaiveValue> Values(Expression operand, string id, JsonObject document) => operand switch
    {
        MethodExpression => [new NaiveValue(NaiveKind.Text, NaiveValue.Fold(id), 0)],
        PathExpression path => NaiveValue.At(document, [.. path.Segments.Select(s => s.Name).Skip(path.Segments[0].Name == query.From.Alias ? 1 : 0)]),
        _ => throw new InvalidOperationException("Not an operand."),
    };

    private string Text(Expression expression) => Parameter(expression)?.Text ?? throw new InvalidOperationException("Not a text.");

    private IEnumerable<NaiveValue?> Parameters(IEnumerable<Expression> expressions) =>
        expressions.SelectMany(e => e is ParameterExpression { Name: { } name } && parameters[name] is JsonArray array
            ? array.Select(element => Value(element))
            : [Parameter(e)]);

    /// <summary>The value of an expression; null for null.</summary>
    private NaiveValue? Parameter(Expression expression) => expression switch
    {
        ParameterExpression parameter => Value(parameters[parameter.Name]),
        LiteralExpression { Kind: LiteralKind.String } literal => new NaiveValue(NaiveKind.Text, literal.Text, 0),
        LiteralExpression { Kind: LiteralKind.Number } literal => new NaiveValue(NaiveKind.Number, "", double.Parse(literal.Text, CultureInfo.InvariantCulture)),
        LiteralExpression { Kind: LiteralKind.Null } => null,
        LiteralExpression literal => new NaiveValue(NaiveKind.Text, literal.Text, 0),
        _ => throw new InvalidOperationException("Not a value."),
    };

    private static NaiveValue? Value(JsonNode? node) => NaiveValue.At(node, []) is [{ Kind: not NaiveKind.Null } value] ? value : null;

    private NaiveValue? SortValue(OrderKey key, (string Id, JsonObject Document) of)
    {
        NaiveValue? value = Values(key.Value, of.Id, of.Document).Find(v => v.Kind != NaiveKind.Null);
        return key.Type is OrderType.Long or OrderType.Double && value is { Kind: not NaiveKind.Number } ? null : value;
    }

    private static int Compare(NaiveValue? left, NaiveValue? right, OrderKey key)
    {
        if (left is null || right is null)
        {
            int nullFirst = key.NullsFirst ?? !key.Descending ? -1 : 1;
            return left is null ? right is null ? 0 : nullFirst : -nullFirst;
        }

        int order = key.Type switch
        {
            OrderType.Long => Math.Truncate(left.Number).CompareTo(Math.Truncate(right.Number)),
            OrderType.Double => left.Number.CompareTo(right.Number),
            OrderType.AlphaNumeric => CompareNaturally(NaiveValue.Fold(left.Text), NaiveValue.Fold(right.Text)),
            _ => NaiveValue.Compare(NaiveValue.Fold(left.Text), NaiveValue.Fold(right.Text)),
        };
        return key.Descending ? -order : order;
    }

    private static int CompareNaturally(string left, string right)
    {
        string Key(string text) => Digits().Replace(text, m => "0" + (char)('A' + m.Value.TrimStart('0').Length) + m.Value.TrimStart('0'));
        return NaiveValue.Compare(Key(left), Key(right));
    }

    [GeneratedRegex(@"[\p{L}\p{N}]+")]
    private static partial Regex Words();

    [GeneratedRegex("[0-9]+")]
    private static partial Regex Digits();
}
