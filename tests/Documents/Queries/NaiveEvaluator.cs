using System.Globalization;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// What a query means, said the simplest way: look at every document, decide, sort. Shares nothing with the engine but the syntax
/// tree.
/// </summary>
internal sealed partial class NaiveEvaluator(RqlQuery query, JsonObject parameters)
{
    private readonly Dictionary<string, NaiveEvaluator> _lucene = [];

    /// <summary>
    /// Scores by id, as the answer says them, where it does: the words of an order by score. What they should be, the tests of
    /// the index say.
    /// </summary>
    public IReadOnlyDictionary<string, double>? Scores { get; set; }

    /// <summary>Whether a document answers the query.</summary>
    public bool Matches(string id, JsonObject document) =>
        query.Where is null || Matches(query.Where, id, document, exact: false);

    /// <summary>Which of two documents comes first; 0 where the query leaves it open.</summary>
    public int Compare((string Id, JsonObject Document) left, (string Id, JsonObject Document) right)
    {
        foreach (OrderKey key in query.OrderBy)
        {
            int order = key.Value switch
            {
                MethodExpression method when method.Is("score") && Scores is not null =>
                    Scores[right.Id].CompareTo(Scores[left.Id]) * (key.Descending ? -1 : 1),
                MethodExpression method when method.Is("random") || method.Is("score") => 0,
                MethodExpression method when method.Is("spatial.distance") => CompareDistance(key, method, left, right),
                MethodExpression method when method.Is("custom") =>
                    Compare(Length(method, left), Length(method, right), key with { Type = OrderType.Double }),
                _ => Compare(SortValue(key, left), SortValue(key, right), key),
            };
            bool isExact = key.Value is not MethodExpression method2
                || (method2.Is("score") ? Scores is not null : !method2.Is("random") && !method2.Is("spatial.distance"));
            if (order == 0 && !isExact)
                return 0; // as good as equal is not equal: what comes next decides in one case and not in the other
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
                return Texts(Values(first, id, document), exact)
                    .Any(t => t.StartsWith(Form(Text(method.Arguments[1].Value), exact), StringComparison.Ordinal));
            case "ENDSWITH":
                return Texts(Values(first, id, document), exact)
                    .Any(t => t.EndsWith(Form(Text(method.Arguments[1].Value), exact), StringComparison.Ordinal));
            case "SEARCH":
                return NaiveMethods.IsFound(
                    Searched(first, document), Text(method.Arguments[1].Value),
                    method.Arguments.Count == 3 && method.Arguments[2].Value.ToString() == "and");
            case "PROXIMITY":
                var search = (MethodExpression)first;
                return NaiveMethods.IsNear(
                    Searched(search.Arguments[0].Value, document), NaiveMethods.WordsOf(Text(search.Arguments[1].Value)),
                    (int)Number(method.Arguments[1].Value));
            case "REGEX":
                return Texts(Values(first, id, document), exact)
                    .Any(t => Regex.IsMatch(t, Form(Text(method.Arguments[1].Value), exact)));
            case "FUZZY":
                var near = (CompareExpression)first;
                return Texts(Values(near.Left, id, document), exact)
                    .Any(t => NaiveMethods.IsAlike(Form(Text(near.Right), exact), t, Number(method.Arguments[1].Value)));
            case "INTERSECT":
                return method.Arguments.All(argument => Matches(argument.Value, id, document, exact));
            case "LUCENE":
                string lucene = Text(method.Arguments[1].Value);
                if (!_lucene.TryGetValue(lucene, out NaiveEvaluator? same))
                    _lucene.Add(
                        lucene,
                        same = new NaiveEvaluator(
                            RqlParser.Parse(
                                "from X where " + NaiveMethods.LuceneTexts.First(known => known.Lucene == lucene).Condition),
                            parameters));
                return same.Matches(id, document);
            case "SPATIAL.WITHIN" or "SPATIAL.CONTAINS" or "SPATIAL.INTERSECTS" or "SPATIAL.DISJOINT"
                when first is MethodExpression area && area.Is("spatial.wkt"):
                return NaiveShape.IsSo(
                    method.Name,
                    Values(area.Arguments[0].Value, id, document)
                        .FindAll(v => v.Kind == NaiveKind.Text)
                        .ConvertAll(v => NaiveShape.Of(v.Text)),
                    NaiveShape.Of(Text(((MethodExpression)method.Arguments[1].Value).Arguments[0].Value)));
            case "SPATIAL.WITHIN" or "SPATIAL.INTERSECTS":
                return Places(first, id, document).Exists(place => IsInside(place, (MethodExpression)method.Arguments[1].Value));
            case "SPATIAL.DISJOINT":
                return Places(first, id, document) is { Count: > 0 } places
                    && !places.Exists(place => IsInside(place, (MethodExpression)method.Arguments[1].Value));
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

    private static bool IsInRange(
        List<NaiveValue> values, NaiveValue? low, bool lowIncluded, NaiveValue? high, bool highIncluded, bool exact)
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
        PathExpression path => NaiveValue.At(
            document, [.. path.Segments.Select(s => s.Name).Skip(path.Segments[0].Name == query.From.Alias ? 1 : 0)]),
        _ => throw new InvalidOperationException("Not an operand."),
    };

    private double Number(Expression expression) =>
        Parameter(expression)?.Number ?? throw new InvalidOperationException("Not a number.");

    /// <summary>
    /// The points of <c>spatial.point(latitude, longitude)</c>: the first latitude goes with the first longitude.
    /// </summary>
    private List<(double Lat, double Lng)> Places(Expression point, string id, JsonObject document)
    {
        List<double?>[] axes = [
            .. ((MethodExpression)point).Arguments.Select(
                axis => Values(axis.Value, id, document).ConvertAll(v => v.Kind == NaiveKind.Number ? v.Number : (double?)null))];
        return [
            .. axes[0].Zip(axes[1])
                .Where(pair => pair.First is not null && pair.Second is not null)
                .Select(pair => (pair.First ?? 0, pair.Second ?? 0))];
    }

    /// <summary>Circles, and boxes written as envelopes.</summary>
    private bool IsInside((double Lat, double Lng) place, MethodExpression shape)
    {
        if (shape.Is("spatial.circle"))
            return NaiveMethods.DistanceKm(place, (Number(shape.Arguments[1].Value), Number(shape.Arguments[2].Value)))
                <= Number(shape.Arguments[0].Value);
        double[] box = [
            .. Digits().Matches(Text(shape.Arguments[0].Value)).Select(m => double.Parse(m.Value, CultureInfo.InvariantCulture))];
        return place.Lng >= box[0] && place.Lng <= box[1] && place.Lat <= box[2] && place.Lat >= box[3];
    }

    private List<string> Searched(Expression operand, JsonObject document) =>
        NaiveValue.SearchedAt(
            document,
            [.. ((PathExpression)operand).Segments
                .Select(s => s.Name)
                .Skip(((PathExpression)operand).Segments[0].Name == query.From.Alias ? 1 : 0)]);

    private string Text(Expression expression) =>
        Parameter(expression)?.Text ?? throw new InvalidOperationException("Not a text.");

    private IEnumerable<NaiveValue?> Parameters(IEnumerable<Expression> expressions) =>
        expressions.SelectMany(e => e is ParameterExpression { Name: { } name } && parameters[name] is JsonArray array
            ? array.Select(element => Value(element))
            : [Parameter(e)]);

    /// <summary>The value of an expression; null for null.</summary>
    private NaiveValue? Parameter(Expression expression) => expression switch
    {
        ParameterExpression parameter => Value(parameters[parameter.Name]),
        LiteralExpression { Kind: LiteralKind.String } literal => new NaiveValue(NaiveKind.Text, literal.Text, 0),
        LiteralExpression { Kind: LiteralKind.Number } literal =>
            new NaiveValue(NaiveKind.Number, "", double.Parse(literal.Text, CultureInfo.InvariantCulture)),
        LiteralExpression { Kind: LiteralKind.Null } => null,
        LiteralExpression literal => new NaiveValue(NaiveKind.Text, literal.Text, 0),
        _ => throw new InvalidOperationException("Not a value."),
    };

    private static NaiveValue? Value(JsonNode? node) =>
        NaiveValue.At(node, []) is [{ Kind: not NaiveKind.Null } value] ? value : null;

    /// <summary>What is nowhere comes last, whichever the direction.</summary>
    private int CompareDistance(
        OrderKey key, MethodExpression method, (string Id, JsonObject Document) left, (string Id, JsonObject Document) right)
    {
        (double? x, double? y) = (DistanceOf(left), DistanceOf(right));
        if (x is null || y is null)
            return x is null ? y is null ? 0 : (key.NullsFirst == true ? -1 : 1) : key.NullsFirst == true ? 1 : -1;
        int order = Math.Abs(x.Value - y.Value) < 1e-4 ? 0 : x.Value.CompareTo(y.Value); // points are kept to 5 mm
        return key.Descending ? -order : order;

        double? DistanceOf((string Id, JsonObject Document) of)
        {
            var centre = (MethodExpression)method.Arguments[1].Value;
            (double, double) from = (Number(centre.Arguments[0].Value), Number(centre.Arguments[1].Value));
            return Places(method.Arguments[0].Value, of.Id, of.Document)
                .Select(place => (double?)NaiveMethods.DistanceKm(place, from))
                .Min();
        }
    }

    /// <summary>The custom order of the tests: by the bytes of a text.</summary>
    private NaiveValue? Length(MethodExpression method, (string Id, JsonObject Document) of) =>
        Values(method.Arguments[0].Value, of.Id, of.Document).Find(v => v.Kind != NaiveKind.Null) is { } value
            ? new NaiveValue(NaiveKind.Number, "", System.Text.Encoding.UTF8.GetByteCount(NaiveValue.Fold(value.Text)))
            : null;

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
        string Key(string text) =>
            DigitRun().Replace(text, m => "0" + (char)('A' + m.Value.TrimStart('0').Length) + m.Value.TrimStart('0'));
        return NaiveValue.Compare(Key(left), Key(right));
    }

    [GeneratedRegex("[0-9]+")]
    private static partial Regex DigitRun();

    [GeneratedRegex("-?[0-9.]+")]
    private static partial Regex Digits();
}
