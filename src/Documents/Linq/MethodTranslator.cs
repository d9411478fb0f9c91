using System.Collections;
using System.Linq.Expressions;
using System.Text;
using System.Text.RegularExpressions;

namespace Treepie.Linq;

/// <summary>Translates calls in conditions: methods of strings and collections, and <see cref="RqlMethods"/>.</summary>
internal sealed class MethodTranslator
{
    private readonly ConditionTranslator _conditions;
    private readonly ElementTranslator _elements;
    private readonly ComputedTranslator _computed;
    private readonly FlagsTranslator _flags;
    private readonly RqlMethodTranslator _rqlMethods;

    public MethodTranslator(
        ConditionTranslator conditions, ElementTranslator elements, ComputedTranslator computed, FlagsTranslator flags)
    {
        (_conditions, _elements, _computed, _flags) = (conditions, elements, computed, flags);
        _rqlMethods = new RqlMethodTranslator(conditions);
    }

    /// <summary>The maximum number of values of a list whose conditions are joined.</summary>
    private const int MaxJoined = 256;

    private PathTranslator Paths => _conditions.Paths;

    /// <summary>Returns whether an expression is a call of <see cref="RqlMethods"/>.</summary>
    public static bool IsRql(Expression expression) =>
        expression is MethodCallExpression call && call.Method.DeclaringType == typeof(RqlMethods);

    /// <summary>
    /// Returns the operands of <c>a.CompareTo(b)</c>, <c>string.Compare(a, b)</c> or <c>string.CompareOrdinal(a, b)</c>, and
    /// whether they are compared with case; null for other calls.
    /// </summary>
    public static (Expression Subject, Expression With, bool IsOrdinal)? Compared(Expression expression) => expression switch
    {
        MethodCallExpression { Method.Name: "CompareTo", Object: { } subject, Arguments: [{ } with] } => (subject, with, false),
        MethodCallExpression
        {
            Method.Name: "Compare" or "CompareOrdinal",
            Object: null,
            Arguments: [{ } subject, { } with, ..] and { Count: <= 4 } arguments
        } call
                when call.Method.DeclaringType == typeof(string)
                    && with.Type == typeof(string)
                    && (arguments.Count < 4 || arguments[2].Type == typeof(bool)) => (
                    subject, with,
                    call.Method.Name == "CompareOrdinal"
                        || (arguments.Count == 3 && Interpreter.ValueOf(arguments[2]) is StringComparison.Ordinal)),
        _ => null,
    };

    public Clause Of(MethodCallExpression call)
    {
        if (IsRql(call))
            return _rqlMethods.Of(call);
        Type? owner = call.Method.DeclaringType;
        string name = call.Method.Name;
        if (owner == typeof(string))
            return OfText(call);
        if (owner == typeof(Regex) && name == "IsMatch")
            return OfRegex(call);
        if (name == "Equals" && OperandsOf(call) is { } equal)
            return Equal(equal.Left, equal.Right, call);
        // the compiler may convert arrays to spans and choose the method of MemoryExtensions
        if (owner == typeof(LinqExtensions)
            || (owner == typeof(MemoryExtensions) && name == nameof(LinqExtensions.ContainsAny) && call.Arguments.Count == 2))
            return OfList(call);
        if (name is "ContainsKey" && call.Object is { } dictionary && Paths.TryFind(dictionary) is { IsRoot: false })
            return HasKey(dictionary, call.Arguments[0], call);
        if (name == "Contains" && SourceAndItem(call) is { } contains)
            return contains.IsExact
                ? Exact(Contains(contains.Source, contains.Item, call))
                : Contains(contains.Source, contains.Item, call);
        if (owner == typeof(Enumerable)
            && name is "Any" or "All"
            && Paths.TryFind(call.Arguments[0]) is { IsRoot: false } array
            && Paths.IsArray(array.Type))
        {
            if (call.Arguments.Count == 1)
                ConditionTranslator.RequireOneArray(array, call);
            return call.Arguments is [_, LambdaExpression lambda]
                ? name == "Any"
                    ? _elements.Any(array, lambda.Parameters[0], lambda.Body, call)
                    : _elements.All(array, lambda, call)
                : ConditionTranslator.HasAtLeast(array, 1, call);
        }

        if (owner == typeof(Enumerable)
            && name is "Any" or "All"
            && call.Arguments is [{ } given, LambdaExpression { Parameters.Count: 1 } each]
            && !Paths.DependsOnDocument(given))
            return OfEach(given, each, name == "Any", call);
        if (name == "HasFlag" && _flags.TryOf(call) is { } flags)
            return flags;

        throw Refusal.Of(call, name switch
        {
            "HasFlag" => "The flag is a value, not another member of the document.",
            "Count" or "Any" or "All" => "Write 'x.List.Any(e => condition)' directly on a member that is a list or an array.",
            _ =>
                "Conditions call methods of strings (Contains, StartsWith, EndsWith, Equals, IsNullOrEmpty), of collections "
                + "(Contains, Any, All, ContainsKey), Regex.IsMatch, In, ContainsAny, "
                    + "ContainsAll and those of RqlMethods. Compute values before the query, and filter the rest after "
                    + "ToListAsync().",
        });
    }

    /// <summary>Translates that a condition on the document holds for some or all of a list of values.</summary>
    private Clause OfEach(Expression list, LambdaExpression condition, bool isAny, Expression quoted)
    {
        object?[] values = [.. Values(list, quoted).Cast<object?>()];
        if (values.Length > MaxJoined)
            throw Refusal.Of(
                quoted,
                $"The condition is written for each value of the list, of which there are more than {MaxJoined}. Write "
                    + "'values.Contains(x.Member)', or ask for fewer at a time.");
        IEnumerable<Clause> each = values.Select(value => _conditions.Of(
            Inliner.Inline(condition, Expression.Constant(value, condition.Parameters[0].Type))));
        return isAny ? Clause.Or(each) : Clause.And(each);
    }

    /// <summary>Returns a text that does not depend on the document.</summary>
    public string Text(Expression expression, Expression quoted)
    {
        if (Paths.DependsOnDocument(expression))
            throw Refusal.Of(quoted, "The argument is a value, not another member of the document.");
        return Interpreter.ValueOf(expression) switch
        {
            string text => text,
            char sign => sign.ToString(),
            Enum or Guid or int or long =>
                Convert.ToString(Interpreter.ValueOf(expression), System.Globalization.CultureInfo.InvariantCulture) ?? "",
            _ => throw Refusal.Of(quoted, "The argument is null: give it a text."),
        };
    }

    private Clause OfText(MethodCallExpression call)
    {
        string name = call.Method.Name;
        if (call.Object is null)
        {
            switch (name)
            {
                case "IsNullOrEmpty" or "IsNullOrWhiteSpace":
                    DocumentPath path = Paths.Of(call.Arguments[0]);
                    Clause empty = Clause.Or(
                        new Clause($"{path.Text} = null"), new Clause($"{path.Text} = {_conditions.Parameters.Add("")}"));
                    return name == "IsNullOrEmpty"
                        ? empty
                        : Clause.Or(empty, new Clause($@"regex({path.Text}, {_conditions.Parameters.Add(@"^\s+$")})"));
                case "Equals":
                    return Cased(call, 2, exact => Equal(call.Arguments[0], call.Arguments[1], call));
            }
        }
        else if (name == "Equals")
        {
            return Cased(call, 1, exact => Equal(call.Object, call.Arguments[0], call));
        }
        else if (name is "StartsWith" or "EndsWith" or "Contains")
        {
            return Cased(call, 1, exact => Affix(call, name));
        }

        throw Refusal.Of(
            call,
            "Of strings, conditions call StartsWith, EndsWith, Contains, Equals, IsNullOrEmpty, IsNullOrWhiteSpace and "
                + "CompareTo. Store what else is to be asked as a member of its own.");
    }

    /// <summary>Translates a case-sensitive comparison with <c>exact()</c>.</summary>
    private static Clause Cased(MethodCallExpression call, int place, Func<bool, Clause> make)
    {
        bool isExact = false;
        if (call.Arguments.Count > place)
        {
            object? how = Interpreter.ValueOf(call.Arguments[place]);
            isExact = how is StringComparison.Ordinal or StringComparison.CurrentCulture or StringComparison.InvariantCulture
                or false;
            if (how is not (StringComparison or bool))
                throw Refusal.Of(call, "Say how to compare with a StringComparison.");
        }

        Clause clause = make(isExact);
        return isExact ? Exact(clause) : clause;
    }

    /// <summary>Translates a condition on texts that is case-sensitive.</summary>
    public static Clause Exact(Clause clause) => clause.Within(text => $"exact({text})", filters: true);

    private Clause Affix(MethodCallExpression call, string name)
    {
        Expression subject = call.Object!; // not null: an instance method
        string text = Text(call.Arguments[0], call);
        if (!Paths.DependsOnDocument(subject))
            throw Refusal.Of(
                call,
                "The text to look into is the member of the document: 'x.Name.StartsWith(value)'. For a list of values write "
                    + "'values.Contains(x.Name)'.");
        DocumentPath path = Paths.Of(subject);
        if (path.IsId && name != "StartsWith")
            throw Refusal.Of(call, "Of ids the start is known: write StartsWith.");
        if (path.IsId)
            return new Clause($"startsWith(id(), {_conditions.Parameters.Add(text)})");
        return name switch
        {
            "StartsWith" => new Clause($"startsWith({path.Text}, {_conditions.Parameters.Add(text)})"),
            "EndsWith" => new Clause($"endsWith({path.Text}, {_conditions.Parameters.Add(text)})"),
            _ => new Clause($"regex({path.Text}, {_conditions.Parameters.Add(Escaped(text))})"),
        };
    }

    /// <summary>Returns a regular expression that matches a text.</summary>
    private static string Escaped(string text)
    {
        var escaped = new StringBuilder(text.Length);
        foreach (char sign in text)
        {
            if (@"\.*+?^$|()[]{}".Contains(sign, StringComparison.Ordinal))
                escaped.Append('\\');
            escaped.Append(sign);
        }

        return escaped.ToString();
    }

    private Clause OfRegex(MethodCallExpression call)
    {
        bool isStatic = call.Object is null;
        object? options = isStatic && call.Arguments.Count > 2 ? Interpreter.ValueOf(call.Arguments[2]) : RegexOptions.None;
        string pattern;
        if (isStatic)
        {
            pattern = Text(call.Arguments[1], call);
        }
        else if (Interpreter.ValueOf(call.Object!) is Regex regex) // not null: not static
        {
            (pattern, options) = (regex.ToString(), regex.Options & ~RegexOptions.Compiled);
        }
        else
        {
            throw Refusal.Of(call, "The regular expression is null.");
        }

        if (options is not (RegexOptions.None or RegexOptions.IgnoreCase or RegexOptions.CultureInvariant
            or (RegexOptions.IgnoreCase | RegexOptions.CultureInvariant)))
            throw Refusal.Of(call, "The only option that a query supports is RegexOptions.IgnoreCase.");
        var clause = new Clause($"regex({Paths.Of(call.Arguments[0]).Text}, {_conditions.Parameters.Add(pattern)})");
        return ((RegexOptions)options).HasFlag(RegexOptions.IgnoreCase) ? clause : Exact(clause);
    }

    private static (Expression Left, Expression Right)? OperandsOf(MethodCallExpression call) => call switch
    {
        { Object: { } self, Arguments: [{ } other] } => (self, other),
        { Object: null, Arguments: [{ } left, { } right] } => (left, right),
        _ => null,
    };

    private Clause Equal(Expression left, Expression right, Expression quoted)
    {
        if (!Paths.DependsOnDocument(left))
            (left, right) = (right, left);
        if (Paths.DependsOnDocument(right))
            throw Refusal.Of(quoted, "A condition compares a member with a value, not with another member.");
        return _conditions.Equality(Paths.Of(left), Interpreter.ValueOf(right), isEqual: true, quoted);
    }

    /// <summary>
    /// Returns the collection and the item of any method named Contains, and whether its comparer compares texts with case.
    /// </summary>
    private (Expression Source, Expression Item, bool IsExact)? SourceAndItem(MethodCallExpression call) => call switch
    {
        { Object: { } list, Arguments: [{ } own] } => (Unspanned(list), own, false),
        { Object: null, Arguments: [{ } list, { } own] } => (Unspanned(list), own, false),
        { Object: null, Arguments: [{ } list, { } own, { } comparer] } when !Paths.DependsOnDocument(comparer) =>
            Interpreter.ValueOf(comparer) switch
            {
                null => (Unspanned(list), own, false),
                StringComparer ignoring when ignoring.Equals("a", "A") => (Unspanned(list), own, false),
                StringComparer => (Unspanned(list), own, true),
                _ => null,
            },
        _ => null,
    };

    /// <summary>Returns the array that the compiler has converted to a span.</summary>
    private static Expression Unspanned(Expression expression) => expression switch
    {
        MethodCallExpression { Method.Name: "op_Implicit", Arguments: [{ } array] } => Unspanned(array),
        MethodCallExpression { Method.Name: "AsSpan", Arguments: [{ } array] } => Unspanned(array),
        UnaryExpression { NodeType: ExpressionType.Convert, Method.Name: "op_Implicit" } convert => Unspanned(convert.Operand),
        _ => expression,
    };

    private Clause Contains(Expression source, Expression item, Expression quoted)
    {
        bool isOwnList = Paths.DependsOnDocument(source);
        if (isOwnList && source is MemberExpression { Member.Name: "Keys", Expression: { } map } && Paths.IsDictionary(map.Type))
            return HasKey(map, item, quoted);
        if (isOwnList == Paths.DependsOnDocument(item))
            throw Refusal.Of(
                quoted,
                "Contains looks for a value in a member, or for a member in a list of values; not for a member in another.");
        if (isOwnList)
        {
            DocumentPath array = Paths.Of(source);
            if (!Paths.IsArray(array.Type))
                throw Refusal.Of(
                    quoted, "Contains looks into a list, an array or a text. Write ContainsKey for the keys of a dictionary.");
            return Interpreter.ValueOf(item) is { } value
                ? _conditions.Equality(
                    array with { Type = item.Type, IsOfElements = true }, value, isEqual: true, quoted)
                : HasNull(array, quoted);
        }

        IEnumerable values = Values(source, quoted);
        return (Paths.TryFind(item) is null ? _computed.TryIn(item, values, quoted) : null)
            ?? _conditions.In(Paths.Of(item), values, quoted);
    }

    private Clause HasKey(Expression dictionary, Expression key, Expression quoted) =>
        new($"exists({Paths.Of(dictionary).Member(Text(key, quoted), typeof(object)).Text})");

    /// <summary>Translates that an array has null as an element.</summary>
    private Clause HasNull(DocumentPath array, Expression quoted)
    {
        Type type = ElementType(array);
        if (type.IsValueType && Nullable.GetUnderlyingType(type) is null)
            return Clause.Never;
        ParameterExpression element = Expression.Parameter(type);
        return _elements.Any(array, element, Expression.Equal(element, Expression.Constant(null, type)), quoted);
    }

    private static IEnumerable Values(Expression source, Expression quoted) =>
        Interpreter.ValueOf(source) is IEnumerable and not string and var values
            ? (IEnumerable)values
            : throw Refusal.Of(quoted, "The list of values is null, or none.");

    private Clause OfList(MethodCallExpression call)
    {
        DocumentPath path = Paths.Of(Unspanned(call.Arguments[0]));
        object?[] values = [.. Values(Unspanned(call.Arguments[1]), call).Cast<object?>()];
        DocumentPath element = path with { Type = ElementType(path) };
        bool isAll = call.Method.Name == nameof(LinqExtensions.ContainsAll);
        if (!isAll && !Paths.IsArray(path.Type))
            return _conditions.In(element, values, call);
        object?[] known = Array.FindAll(values, value => value is not null);
        Clause clause = isAll ? All(path, element, known) : _conditions.In(element, known, call);
        if (known.Length == values.Length)
            return clause;
        return isAll ? Clause.And(clause, HasNull(path, call)) : Clause.Or(clause, HasNull(path, call));
    }

    private Clause All(DocumentPath array, DocumentPath element, object?[] values)
    {
        if (values.Length == 0)
            return Clause.Always;
        string name = _conditions.Parameters.Add(values.Select(value => ConditionTranslator.Typed(element, value)));
        return ConditionTranslator.Cased(element, new Clause($"{array.Text} all in ({name})"));
    }

    private Type ElementType(DocumentPath path) =>
        Paths.IsArray(path.Type) ? Paths.ElementTypeOf(path.Type, path.Type) : path.Type;
}
