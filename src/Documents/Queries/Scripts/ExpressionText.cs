using System.Text.Json;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Scripts;

/// <summary>
/// Translates conditions and values that are not evaluated by an index to JavaScript expressions: those of <c>filter</c>, and of
/// <c>select</c> with loaded documents. The semantics are those of <c>where</c>: string comparisons ignore case, and an array
/// matches if one of its elements does.
/// </summary>
internal sealed class ExpressionText(RqlQuery query)
{
    private readonly HashSet<string> _functions =
        [.. query.Declarations.Where(static one => !one.IsTimeSeries).Select(static one => one.Name)];
    private readonly HashSet<string> _roots = [.. query.Load.Select(static load => load.Alias)];

    /// <summary>The helper functions that the expressions call.</summary>
    public static IReadOnlyList<Computations.ScriptFunction> Helpers { get; } =
    [
        new(
            "$any", ["a", "test"],
            "return Array.isArray(a) ? a.some(x => $any(x, test)) : test(typeof a === 'string' ? a.toLowerCase() : a ?? null);"),
        new("$low", ["b"], "return typeof b === 'string' ? b.toLowerCase() : b ?? null;"),
        new("$equal", ["a", "b"], "const c = $low(b); return $any(a, x => x === c);"),
        new("$less", ["a", "b"], "const c = $low(b); return $any(a, x => x !== null && typeof x === typeof c && x < c);"),
        new("$atMost", ["a", "b"], "const c = $low(b); return $any(a, x => x !== null && typeof x === typeof c && x <= c);"),
        new(
            "$between", ["a", "b", "c"],
            "const low = $low(b), high = $low(c); return $any(a, x => x !== null && typeof x === typeof low && x >= low && x <= "
                + "high);"),
        new("$starts", ["a", "b"], "const c = $low(b); return $any(a, x => typeof x === 'string' && x.startsWith(c));"),
        new("$ends", ["a", "b"], "const c = $low(b); return $any(a, x => typeof x === 'string' && x.endsWith(c));"),
        new("$elements", ["a"], "return Array.isArray(a) ? a : a === null || a === undefined ? [] : [a];"),
        new(
            "$each", ["a", "get"],
            "return Array.isArray(a) ? a.flatMap(x => $each(x, get)) : a === null || a === undefined ? [] : [get(a)];"),
    ];

    /// <summary>Translates a condition.</summary>
    /// <exception cref="InvalidQueryException">The expression cannot be evaluated on documents.</exception>
    public string Condition(Expression expression) => expression switch
    {
        AndExpression all => $"({string.Join(" && ", all.Clauses.Select(Condition))})",
        OrExpression either => $"({string.Join(" || ", either.Clauses.Select(Condition))})",
        NotExpression negated => $"!({Condition(negated.Clause)})",
        LiteralExpression { Kind: LiteralKind.True } => "true",
        LiteralExpression { Kind: LiteralKind.False } => "false",
        CompareExpression compare => Compare(compare),
        BetweenExpression between => $"$between({Value(between.Operand)}, {Value(between.Low)}, {Value(between.High)})",
        InExpression { All: true } list =>
            $"({string.Join(" && ", list.Values.Select(value => Equal(list.Operand, value)).DefaultIfEmpty("true"))})",
        InExpression list =>
            $"({string.Join(" || ", list.Values.Select(value => In(list.Operand, value)).DefaultIfEmpty("false"))})",
        MethodExpression method when _functions.Contains(method.Name) => $"!!({Call(method)})",
        MethodExpression method when method.Is("any") => AnyElement(method),
        MethodExpression method when method.Is("startsWith") && method.Arguments.Count == 2 => $"$starts({Arguments(method)})",
        MethodExpression method when method.Is("endsWith") && method.Arguments.Count == 2 => $"$ends({Arguments(method)})",
        MethodExpression method when method.Is("exists") && method.Arguments.Count == 1 =>
            $"({Value(method.Arguments[0].Value)} !== undefined)",
        MethodExpression method when method.Is("regex") && method.Arguments.Count == 2 => $"regex({Arguments(method)})",
        MethodExpression method => throw RqlErrors.At(
            query.Text, method.Position,
            $"'{method.Name}()' is asked of an index, and 'filter' looks at documents: write it after 'where', or declare a "
                + $"function of that name."),
        _ => throw RqlErrors.At(query.Text, expression.Position, "Expected is a condition, such as Freight > 30."),
    };

    /// <summary>Translates a value.</summary>
    /// <exception cref="InvalidQueryException">The expression is not a value.</exception>
    public string Value(Expression expression) => expression switch
    {
        LiteralExpression { Kind: LiteralKind.String } text => Quoted(text.Text),
        LiteralExpression { Kind: LiteralKind.Null } => "null",
        LiteralExpression literal => literal.Text.ToLowerInvariant(),
        ParameterExpression parameter => "$" + parameter.Name,
        PathExpression path => Path(path.Segments),
        MethodExpression { Arguments: [] } method when method.Is("id") => "id(this)",
        MethodExpression { Arguments: [{ Value: PathExpression path }] } method when method.Is("id") => $"id({Value(path)})",
        MethodExpression method when _functions.Contains(method.Name) => Call(method),
        MethodExpression method when method.Is("cmpxchg") || method.Is("counter") =>
            $"{method.Name.ToLowerInvariant()}({Arguments(method)})",
        _ => throw RqlErrors.At(
            query.Text, expression.Position, "Expected is a field, a value, a parameter, or a call of a declared function."),
    };

    /// <summary>Translates <c>any</c>: whether an array element matches a condition.</summary>
    private string AnyElement(MethodExpression method)
    {
        if (method.Arguments is not [{ Value: PathExpression path, Alias: { } name }, { Value: { } condition }]
            || !name.All(static c => char.IsAsciiLetterOrDigit(c) || c == '_'))
            throw RqlErrors.At(
                query.Text, method.Position,
                "'any()' takes an array with a name for its element, and what one element meets: any(Lines as l, l.Product = 'x' "
                    + "and l.Amount > 3).");
        string array = Value(path);
        bool isNew = _roots.Add(name);
        string meets = Condition(condition);
        if (isNew)
            _roots.Remove(name);
        bool isNested = path.Segments.Any(static segment => segment.Elements.Contains(PathSegment.AllElements));
        return $"$elements({array}){(isNested ? ".flat()" : "")}.some({name} => {meets})";
    }

    /// <summary>Translates a call of a declared function.</summary>
    public string Call(MethodExpression method) => $"{method.Name}({Arguments(method)})";

    /// <summary>Whether a call is of a declared function.</summary>
    public bool IsDeclared(MethodExpression method) => _functions.Contains(method.Name);

    private string Arguments(MethodExpression method) =>
        string.Join(", ", method.Arguments.Select(argument => Value(argument.Value)));

    private string Compare(CompareExpression compare)
    {
        (string left, string right) = (Value(compare.Left), Value(compare.Right));
        return compare.Operator switch
        {
            CompareOperator.Equal => $"$equal({left}, {right})",
            CompareOperator.NotEqual => $"!$equal({left}, {right})",
            CompareOperator.Less => $"$less({left}, {right})",
            CompareOperator.LessOrEqual => $"$atMost({left}, {right})",
            CompareOperator.Greater => $"$any({left}, x => $less($low({right}), x))",
            _ => $"$any({left}, x => $atMost($low({right}), x))",
        };
    }

    private string Equal(Expression operand, Expression value) => $"$equal({Value(operand)}, {Value(value)})";

    /// <summary>Translates one value of a list, which may be a parameter with several values.</summary>
    private string In(Expression operand, Expression value) => value is ParameterExpression
        ? $"(Array.isArray({Value(value)}) ? {Value(value)} : [{Value(value)}]).some(v => $equal({Value(operand)}, v))"
        : Equal(operand, value);

    private string Path(IReadOnlyList<PathSegment> segments)
    {
        bool isAlias = query.From.Alias == segments[0].Name && segments[0].Elements.Count == 0;
        bool isRoot = isAlias || (_roots.Contains(segments[0].Name) && segments[0].Elements.Count == 0);
        return Members(isRoot ? segments[0].Name : "this", segments, isRoot ? 1 : 0);
    }

    private static string Members(string root, IReadOnlyList<PathSegment> segments, int from)
    {
        string text = root;
        for (int i = from; i < segments.Count; i++)
        {
            text += $"?.[{Quoted(segments[i].Name)}]";
            foreach (int element in segments[i].Elements)
            {
                if (element == PathSegment.AllElements)
                    return $"$each({text}, x => {Members("x", segments, i + 1)})";
                text += $"?.[{element}]";
            }
        }

        return text;
    }

    private static string Quoted(string text) => $"\"{JsonEncodedText.Encode(text)}\"";
}
