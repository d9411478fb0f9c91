using System.Text.Json;
using Treepie.Queries.Filters;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Scripts;

/// <summary>
/// Translates conditions and values that are not evaluated by an index to JavaScript expressions: those of <c>filter</c>, and
/// arguments of declared functions. The semantics are those of <c>where</c>: string comparisons ignore case, and an array
/// matches if one of its elements does.
/// </summary>
internal sealed class ExpressionText(RqlQuery query)
{
    private bool _isExact;
    private readonly HashSet<string> _roots = [.. query.Load.Select(static load => load.Alias)];

    /// <summary>The helper functions that the expressions call.</summary>
    public static IReadOnlyList<Computations.ScriptFunction> Helpers { get; } =
    [
        // 'e' tells that texts are compared with case, and times by their spelling
        new(
            "$form", ["a", "e"],
            "if (typeof a === 'boolean') return String(a); if (typeof a !== 'string') return a ?? null; if (e) return a; const b "
                + @"= $$fold(a); return /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d\.\d{7}z?$/.test(b) ? b.slice(0, 27) : b;"),
        // a path has the value null where it finds nothing; a list of values to compare with may be empty
        new(
            "$any", ["a", "test", "e"],
            "return !Array.isArray(a) ? test($form(a, e)) : a.length === 0 ? test(null) : a.some(x => $any(x, test, e));"),
        new(
            "$some", ["a", "test", "e"],
            "return Array.isArray(a) ? a.some(x => $some(x, test, e)) : test($form(a, e));"),
        // a number is also its text, if it is compared with one
        new(
            "$two", ["a", "b", "holds", "e"],
            "return $some(b, c => $any(a, x => { const y = typeof c === 'string' ? $spelled(x) : x; return typeof y === typeof c "
                + "&& !$isObject(y) && !$isObject(c) && holds(y, c); }, e), e);"),
        // NaN, which nothing is less or greater than, for null
        new(
            "$order", ["a", "b"], "return typeof a === 'string' ? $$order(a, b) : a === null || b === null ? NaN : a - b;"),
        // an object equals nothing, itself included
        new("$isObject", ["a"], "return a !== null && typeof a === 'object';"),
        new("$spelled", ["a"], "return typeof a === 'number' ? String(a) : a;"),
        new("$equal", ["a", "b", "e"], "return $two(a, b, (x, y) => x === y, e);"),
        new("$all", ["a", "b", "e"], "return (Array.isArray(b) ? b : [b]).every(x => $equal(a, x, e));"),
        new("$less", ["a", "b", "e"], "return $two(a, b, (x, y) => $order(x, y) < 0, e);"),
        new("$atMost", ["a", "b", "e"], "return $two(a, b, (x, y) => $order(x, y) <= 0, e);"),
        new("$more", ["a", "b", "e"], "return $two(a, b, (x, y) => $order(x, y) > 0, e);"),
        new("$atLeast", ["a", "b", "e"], "return $two(a, b, (x, y) => $order(x, y) >= 0, e);"),
        new("$between", ["a", "b", "c", "e"], "return $any(a, x => $atLeast(x, b, e) && $atMost(x, c, e), e);"),
        new(
            "$text", ["a", "test", "e"],
            "return $any(a, x => { const y = $spelled(x); return typeof y === 'string' && test(y); }, e);"),
        new("$starts", ["a", "b", "e"], "const c = $form(b, e); return $text(a, x => x.startsWith(c), e);"),
        new("$ends", ["a", "b", "e"], "const c = $form(b, e); return $text(a, x => x.endsWith(c), e);"),
        new("$regex", ["a", "b", "e"], "return $text(a, x => regex(x, e ? b : '(?i)' + b), true);"),
        new("$elements", ["a"], "return Array.isArray(a) ? a : a === null || a === undefined ? [] : [a];"),
        new(
            "$group", ["group", "keys"],
            "const all = { ...group }; for (const [path, member] of keys) { let at = all; for (let i = 0; i < path.length - 1; "
                + "i++) at = at[path[i]] = typeof at[path[i]] === 'object' ? at[path[i]] ?? {} : {}; "
                + "at[path[path.length - 1]] = group[member]; } return all;"),
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
        BetweenExpression between => Call("$between", between.Operand, between.Low, between.High),
        InExpression { All: true } list =>
            $"({string.Join(" && ", list.Values.Select(value => Call("$all", list.Operand, value)).DefaultIfEmpty("true"))})",
        InExpression list =>
            $"({string.Join(" || ", list.Values.Select(value => Call("$equal", list.Operand, value)).DefaultIfEmpty("false"))})",
        MethodExpression method when query.Declares(method) => $"!!({Call(method)})",
        MethodExpression method when method.Is("any") => AnyElement(method),
        MethodExpression method when method.Is("startsWith") && method.Arguments.Count == 2 =>
            Call("$starts", method.Arguments[0].Value, method.Arguments[1].Value),
        MethodExpression method when method.Is("endsWith") && method.Arguments.Count == 2 =>
            Call("$ends", method.Arguments[0].Value, method.Arguments[1].Value),
        MethodExpression method when method.Is("exists") && method.Arguments.Count == 1 =>
            $"({Value(method.Arguments[0].Value)} !== undefined)",
        MethodExpression method when method.Is("regex") && method.Arguments.Count == 2 =>
            Call("$regex", method.Arguments[0].Value, method.Arguments[1].Value),
        MethodExpression method when method.Is("exact") && method.Arguments.Count == 1 => Exact(method.Arguments[0].Value),
        MethodExpression method => throw FunctionNames.Unknown(query, method) ?? RqlErrors.At(
            query.Text, method.Position,
            query.DeclaredTimeSeries(method) is not null
                ? $"'{method.Name}()' is a time series and no condition: declare a function that looks at its Count and Results."
                : $"'{method.Name}()' is asked of an index, and 'filter' looks at documents: write it after 'where', or "
                    + $"declare a function of that name."),
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
        MethodExpression method when query.Declares(method) || query.DeclaredTimeSeries(method) is not null =>
            Call(method),
        MethodExpression { Arguments: [{ Value: var name }] } method when method.Is("counter") =>
            $"counter(id(this), {Value(name)})",
        MethodExpression { Arguments.Count: not 1 } method when method.Is("cmpxchg") =>
            throw RqlErrors.At(query.Text, method.Position, "'cmpxchg()' takes a key: cmpxchg('emails/a')."),
        MethodExpression method when method.Is("cmpxchg") || method.Is("counter") =>
            $"{method.Name.ToLowerInvariant()}({Arguments(method)})",
        MethodExpression method when UtcTexts.Is(method) || FilterFunctions.Knows(method.Name) => throw RqlErrors.At(
            query.Text, method.Position,
            $"'{method.Name}()' is computed of what the query finds, without a script. A condition that needs one, for a "
                + "loaded document, a counter, a compare-exchange value or a declared function, cannot have it: make them two "
                + "conditions that 'and' joins, or compute all of it in a function: declare function isLong(c) { return "
                + "c?.Name?.length > 30; } from Orders as o load o.Company as c filter isLong(c)."),
        _ => throw FunctionNames.Unknown(query, expression) ?? RqlErrors.At(
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
    private string Call(MethodExpression method) => $"{method.Name}({Arguments(method)})";

    private string Arguments(MethodExpression method) =>
        string.Join(", ", method.Arguments.Select(argument => Value(argument.Value)));

    private string Compare(CompareExpression compare) => compare.Operator switch
    {
        CompareOperator.Equal => Call("$equal", compare.Left, compare.Right),
        CompareOperator.NotEqual => "!" + Call("$equal", compare.Left, compare.Right),
        CompareOperator.Less => Call("$less", compare.Left, compare.Right),
        CompareOperator.LessOrEqual => Call("$atMost", compare.Left, compare.Right),
        CompareOperator.Greater => Call("$more", compare.Left, compare.Right),
        _ => Call("$atLeast", compare.Left, compare.Right),
    };

    private string Exact(Expression condition)
    {
        bool wasExact = _isExact;
        _isExact = true;
        string text = Condition(condition);
        _isExact = wasExact;
        return text;
    }

    /// <summary>Translates a call of a helper function.</summary>
    private string Call(string helper, params ReadOnlySpan<Expression> operands)
    {
        string text = helper + "(";
        foreach (Expression operand in operands)
            text += Value(operand) + ", ";
        return $"{text}{(_isExact ? "true" : "false")})";
    }

    private string Path(IReadOnlyList<PathSegment> segments)
    {
        bool isAlias = query.From.Alias == segments[0].Name && segments[0].Elements.Count == 0;
        if (!isAlias && !_roots.Contains(segments[0].Name))
            return Members("this", segments, 0);
        string text = segments[0].Name;
        return Elements(ref text, segments, 0) ?? Members(text, segments, 1);
    }

    private static string Members(string root, IReadOnlyList<PathSegment> segments, int from)
    {
        string text = root;
        for (int i = from; i < segments.Count; i++)
        {
            text += $"?.[{Quoted(segments[i].Name)}]";
            if (Elements(ref text, segments, i) is { } each)
                return each;
        }

        return text;
    }

    /// <summary>
    /// Adds the brackets of a member, or returns the rest of the path for each element of an array, if a bracket stands for all.
    /// </summary>
    private static string? Elements(ref string text, IReadOnlyList<PathSegment> segments, int at)
    {
        foreach (int element in segments[at].Elements)
        {
            if (element == PathSegment.AllElements)
                return $"$each({text}, x => {Members("x", segments, at + 1)})";
            text += $"?.[{element}]";
        }

        return null;
    }

    private static string Quoted(string text) => $"\"{JsonEncodedText.Encode(text)}\"";
}
