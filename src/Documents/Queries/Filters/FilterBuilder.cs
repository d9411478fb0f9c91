using System.Collections.Frozen;
using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using Treepie.Indexes.Fields;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Filters;

/// <summary>Compiles conditions to functions on documents, with the same semantics as <c>where</c>.</summary>
/// <param name="query">The query.</param>
/// <param name="parameter">Returns the value of a parameter.</param>
internal sealed class FilterBuilder(RqlQuery query, Func<ParameterExpression, JsonElement> parameter)
{
    /// <summary>The method that requires one array element to match a condition.</summary>
    public const string AnyMethod = "any";

    /// <summary>
    /// The conditions that are called by a name. Each compiles a call, and returns null if its arguments are of another number.
    /// </summary>
    private static readonly FrozenDictionary<string, Func<FilterBuilder, MethodExpression, bool, Func<FilterScope, bool>?>>
        _methods = new Dictionary<string, Func<FilterBuilder, MethodExpression, bool, Func<FilterScope, bool>?>>
        {
            [AnyMethod] = static (builder, method, isExact) => builder.AnyElement(method, isExact),
            ["exact"] = static (builder, method, _) =>
                method.Arguments is [{ Value: { } inner }] ? builder.Condition(inner, isExact: true) : null,
            ["exists"] = static (builder, method, isExact) =>
                method.Arguments is [{ Value: { } path }] ? builder.Field(path, isExact).Exists : null,
            ["startsWith"] = static (builder, method, isExact) => builder.Affix(
                method, isExact, static (text, affix) => text.StartsWith(affix, StringComparison.Ordinal)),
            ["endsWith"] = static (builder, method, isExact) => builder.Affix(
                method, isExact, static (text, affix) => text.EndsWith(affix, StringComparison.Ordinal)),
            ["regex"] = static (builder, method, isExact) => method.Arguments is [{ Value: { } subject }, { Value: { } pattern }]
                ? builder.Regular(subject, pattern, isExact)
                : null,
        }.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase);

    /// <summary>The timeout of one regular-expression match, the same as in scripts.</summary>
    private static readonly TimeSpan _maxRegexTime = TimeSpan.FromMilliseconds(100);

    private readonly List<string> _names = []; // element names of the enclosing 'any' calls

    /// <summary>The maximum nesting depth of <c>any</c>.</summary>
    public int MostNames { get; private set; }

    /// <summary>Whether there is a condition that is called by a name.</summary>
    public static bool Knows(string method) => _methods.ContainsKey(method);

    /// <summary>Compiles a condition.</summary>
    /// <exception cref="InvalidQueryException">The expression cannot be evaluated on documents.</exception>
    public Func<FilterScope, bool> Condition(Expression expression, bool isExact)
    {
        switch (expression)
        {
            case AndExpression and:
                Func<FilterScope, bool>[] all = [.. and.Clauses.Select(clause => Condition(clause, isExact))];
                return scope => Array.TrueForAll(all, clause => clause(scope));
            case OrExpression or:
                Func<FilterScope, bool>[] some = [.. or.Clauses.Select(clause => Condition(clause, isExact))];
                return scope => Array.Exists(some, clause => clause(scope));
            case NotExpression not:
                Func<FilterScope, bool> negated = Condition(not.Clause, isExact);
                return scope => !negated(scope);
            case LiteralExpression { Kind: LiteralKind.True or LiteralKind.False } literal:
                bool holds = literal.Kind == LiteralKind.True;
                return _ => holds;
            case CompareExpression compare:
                return Compare(compare, isExact);
            case BetweenExpression between:
                bool isMoment = UtcTexts.Is(between.Operand);
                FilterOperand operand = Operand(between.Operand, isExact);
                FilterValue low = Single(between.Low, isExact, isMoment), high = Single(between.High, isExact, isMoment);
                return scope => operand.Any(scope, value => value.CompareTo(low) >= 0 && value.CompareTo(high) <= 0);
            case InExpression list:
                return In(list, isExact);
            case MethodExpression method:
                return Method(method, isExact);
            default:
                throw RqlErrors.At(query.Text, expression.Position, "Expected is a condition, such as Freight > 30.");
        }
    }

    private Func<FilterScope, bool> Method(MethodExpression method, bool isExact) =>
        _methods.GetValueOrDefault(method.Name)?.Invoke(this, method, isExact)
        ?? throw FunctionNames.Unknown(query, method) ?? RqlErrors.At(
            query.Text, method.Position,
            $"'{method.Name}()' is asked of an index, and 'filter' looks at documents: write it after 'where', or declare a "
                + $"function of that name.");

    private Func<FilterScope, bool>? Affix(MethodExpression method, bool isExact, Func<string, string, bool> has)
    {
        if (method.Arguments is not [{ Value: { } subject }, { Value: { } given }])
            return null;
        FilterOperand operand = Field(subject, isExact);
        string affix = Text(given, isExact && !UtcTexts.Is(subject)); // moments have no case
        return scope => operand.Any(scope, value => value.Spelled is { } text && has(text, affix));
    }

    private Func<FilterScope, bool> AnyElement(MethodExpression method, bool isExact)
    {
        (FilterPath array, Func<FilterScope, JsonElement, bool> meets) = Elements(method, isExact);
        return scope => array.AnyElement(scope, element => meets(scope, element));
    }

    /// <summary>Compiles the number of elements of an array, or of those that meet a condition.</summary>
    public FilterCount Count(MethodExpression method, bool isExact)
    {
        if (method.Arguments is [{ Value: { } path, Alias: null }] && PathOf(path, isExact) is { } whole)
            return new FilterCount(whole, static (_, _) => true);
        (FilterPath array, Func<FilterScope, JsonElement, bool> test) = Elements(method, isExact);
        return new FilterCount(array, test);
    }

    /// <summary>Compiles an array with a condition on its elements.</summary>
    private (FilterPath Array, Func<FilterScope, JsonElement, bool> Meets) Elements(MethodExpression method, bool isExact)
    {
        if (method.Arguments is not [{ Value: PathExpression path, Alias: { } name }, { Value: { } condition }])
            throw RqlErrors.At(
                query.Text, method.Position,
                $"'{method.Name}()' takes an array with a name for its element, and what one element meets: "
                    + $"{method.Name}(Lines as l, l.Product = 'x' and l.Amount > 3).");
        FilterPath array = Path(path, isExact);
        int slot = _names.Count;
        _names.Add(name);
        MostNames = Math.Max(MostNames, _names.Count);
        Func<FilterScope, bool> meets = Condition(condition, isExact);
        _names.RemoveAt(slot);
        return (array, (scope, element) =>
        {
            scope.Elements[slot] = element;
            return meets(scope);
        }
        );
    }

    private Func<FilterScope, bool> Regular(Expression subject, Expression pattern, bool isExact)
    {
        FilterOperand operand = Field(subject, isExact: true);
        string text = Text(pattern, isExact: true);
        isExact &= !UtcTexts.Is(subject); // moments have no case
        try
        {
            var regex = new Regex(
                text, RegexOptions.CultureInvariant | (isExact ? RegexOptions.None : RegexOptions.IgnoreCase), _maxRegexTime);
            return scope => operand.Any(scope, value => value.Spelled is { } known && regex.IsMatch(known));
        }
        catch (ArgumentException error)
        {
            throw RqlErrors.At(query.Text, pattern.Position, $"'{text}' is no regular expression: {error.Message}");
        }
    }

    private Func<FilterScope, bool> Compare(CompareExpression compare, bool isExact)
    {
        bool isMoment = UtcTexts.Is(compare.Left) || UtcTexts.Is(compare.Right);
        FilterOperand left = Operand(compare.Left, isExact, isMoment), right = Operand(compare.Right, isExact, isMoment);
        Func<FilterValue, FilterValue, bool> holds = compare.Operator switch
        {
            CompareOperator.Equal or CompareOperator.NotEqual => static (value, other) => value.IsEqualTo(other),
            CompareOperator.Less => static (value, other) => value.CompareTo(other) < 0,
            CompareOperator.LessOrEqual => static (value, other) => value.CompareTo(other) <= 0,
            CompareOperator.Greater => static (value, other) => value.CompareTo(other) > 0,
            _ => static (value, other) => value.CompareTo(other) >= 0,
        };
        bool Any(FilterScope scope) => left.Any(scope, value => right.Any(scope, other => holds(value, other)));
        return compare.Operator == CompareOperator.NotEqual ? scope => !Any(scope) : Any;
    }

    private Func<FilterScope, bool> In(InExpression list, bool isExact)
    {
        FilterOperand operand = Operand(list.Operand, isExact);
        FilterValue[] values = [.. list.Values.SelectMany(value => Several(value, isExact, UtcTexts.Is(list.Operand)))];
        return list.All
            ? scope => Array.TrueForAll(values, wanted => operand.Any(scope, value => value.IsEqualTo(wanted)))
            : scope => operand.Any(scope, value => Array.Exists(values, wanted => value.IsEqualTo(wanted)));
    }

    /// <param name="expression">The operand.</param>
    /// <param name="isExact">Whether texts are compared as they stand.</param>
    /// <param name="isMoment">Whether it is compared with <c>utc(path)</c>.</param>
    private FilterOperand Operand(Expression expression, bool isExact, bool isMoment = false)
    {
        if (UtcTexts.TimeOf(expression) is { } time && PathOf(time, isExact: true) is { } times)
            return new FilterMapped(times, static value => value.ToMoment(isGiven: false));
        if (isMoment)
        {
            bool isGiven = expression is LiteralExpression or ParameterExpression;
            return new FilterMapped(Operand(expression, isExact: true), value => value.ToMoment(isGiven));
        }

        switch (expression)
        {
            case PathExpression path:
                return Path(path, isExact);
            case MethodExpression method when method.Is("id") && IsOfDocument(method.Arguments):
                return new FilterConstant(scope => FilterValue.Of(scope.Id, isExact));
            case MethodExpression method when method.Is(FilterFunctions.Count):
                return Count(method, isExact);
            case MethodExpression { Arguments: [{ Value: { } of }] } method
                when FilterFunctions.Of(method.Name) is { } function
                    && (of is MethodExpression ? Operand(of, isExact: true) : PathOf(of, isExact: true)) is { } values:
                return new FilterMapped(values, function);
            case LiteralExpression or ParameterExpression:
                FilterValue value = Single(expression, isExact);
                return new FilterConstant(_ => value);
            default:
                throw FunctionNames.Unknown(query, expression) ?? RqlErrors.At(
                    query.Text, expression.Position,
                    "Expected is a field, a value, a parameter, or a call of a declared function.");
        }
    }

    /// <summary>Returns the field that a method is applied to; a text is a quoted path.</summary>
    private FilterOperand Field(Expression expression, bool isExact) =>
        PathOf(expression, isExact) ?? Operand(expression, isExact);

    /// <summary>Returns a path, which may be in quotes; null if the expression is none.</summary>
    private FilterPath? PathOf(Expression expression, bool isExact) => expression switch
    {
        PathExpression path => Path(path, isExact),
        LiteralExpression { Kind: LiteralKind.String } path =>
            new FilterPath(-1, QueryPaths.Parse(query, path.Text, path.Position), isExact),
        _ => null,
    };

    private bool IsOfDocument(IReadOnlyList<MethodArgument> arguments) =>
        arguments.Count == 0
            || (arguments is [{ Value: PathExpression { Segments: [{ Elements.Count: 0 } only] } }]
                && only.Name == query.From.Alias);

    private FilterPath Path(PathExpression path, bool isExact)
    {
        PathSegment root = path.Segments[0];
        int slot = root.Elements.Count == 0 ? _names.LastIndexOf(root.Name) : -1;
        if (slot < 0)
            return new FilterPath(slot, QueryPaths.Of(query, path), isExact);
        FieldPath? inside = path.Segments.Count == 1
            ? null
            : QueryPaths.Parse(query, string.Join('.', path.Segments.Skip(1)), path.Position);
        return new FilterPath(slot, inside, isExact);
    }

    private string Text(Expression expression, bool isExact) =>
        Single(expression, isExact).Text ?? throw RqlErrors.At(query.Text, expression.Position, "Expected is a text.");

    private FilterValue Single(Expression expression, bool isExact, bool isMoment = false) =>
        Several(expression, isExact, isMoment) is [{ } value]
            ? value
            : throw RqlErrors.At(query.Text, expression.Position, "Expected is one value, not a list: lists go with 'in'.");

    /// <summary>Returns a value, or the elements of a list parameter, as moments if they are compared with one.</summary>
    private IReadOnlyList<FilterValue> Several(Expression expression, bool isExact, bool isMoment) =>
        isMoment
            ? [.. Several(expression, isExact: true).Select(static value => value.ToMoment(isGiven: true))]
            : Several(expression, isExact);

    private IReadOnlyList<FilterValue> Several(Expression expression, bool isExact)
    {
        switch (expression)
        {
            case LiteralExpression { Kind: LiteralKind.String } text:
                return [FilterValue.Of(text.Text, isExact)];
            case LiteralExpression literal:
                using (var json = JsonDocument.Parse(JsonOf(literal)))
                    return [FilterValue.Of(json.RootElement, isExact)];
            case ParameterExpression given when parameter(given) is var json:
                return json.ValueKind == JsonValueKind.Array
                    ? [.. json.EnumerateArray().Select(value => FilterValue.Of(value, isExact))]
                    : [FilterValue.Of(json, isExact)];
            default:
                throw RqlErrors.At(query.Text, expression.Position, "Expected is a value or a parameter.");
        }
    }

    private string JsonOf(LiteralExpression literal)
    {
        if (literal.Kind is LiteralKind.Null or LiteralKind.True or LiteralKind.False)
            return literal.Text;
        if (long.TryParse(literal.Text, CultureInfo.InvariantCulture, out long whole))
            return whole.ToString(CultureInfo.InvariantCulture);
        double number = double.Parse(literal.Text, CultureInfo.InvariantCulture);
        return double.IsFinite(number)
            ? number.ToString("R", CultureInfo.InvariantCulture)
            : throw RqlErrors.TooLarge(query.Text, literal.Position);
    }
}
