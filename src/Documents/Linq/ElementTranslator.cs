using System.Globalization;
using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// Translates conditions on one element of an array. An index stores the values of all elements together, so it can evaluate one
/// condition on an element, several combined with <c>||</c>, or a range. For anything else it returns candidates, whose elements
/// <c>filter</c> evaluates one by one.
/// </summary>
internal sealed class ElementTranslator(ConditionTranslator conditions)
{
    /// <summary>The error message for several conditions on the elements of nested arrays.</summary>
    public const string OneConditionEach =
        "An index has the values of all elements of an array together: it cannot tell whether one element meets two conditions. "
        + "Write 'x.List.Any(e => a && b)'.";

    private int _depth; // nesting of arrays

    /// <summary>Translates that an element of an array matches a condition.</summary>
    /// <param name="array">The array.</param>
    /// <param name="element">The parameter that represents the element.</param>
    /// <param name="condition">The condition.</param>
    /// <param name="quoted">The whole expression, for error messages.</param>
    public Clause Any(DocumentPath array, ParameterExpression element, Expression condition, Expression quoted) =>
        Of(array, element, condition, condition, quoted);

    /// <summary>Translates that all elements match a condition: none matches its negation.</summary>
    /// <param name="array">The array.</param>
    /// <param name="lambda">The condition.</param>
    /// <param name="quoted">The whole expression, for error messages.</param>
    public Clause All(DocumentPath array, LambdaExpression lambda, Expression quoted) =>
        Clause.Not(Of(array, lambda.Parameters[0], Opposite(lambda.Body), Expression.Not(lambda.Body), quoted));

    /// <summary>Translates that an element of an array matches a condition.</summary>
    /// <param name="array">The array.</param>
    /// <param name="element">The parameter that represents the element.</param>
    /// <param name="onIndex">The condition, with negations moved inwards.</param>
    /// <param name="condition">The condition as it was written.</param>
    /// <param name="quoted">The whole expression, for error messages.</param>
    private Clause Of(
        DocumentPath array, ParameterExpression element, Expression onIndex, Expression condition, Expression quoted)
    {
        if (conditions.IsFilter)
            return OfFilter(array, element, condition);
        conditions.Paths.Enter(element, array.Elements(element.Type));
        if (_depth > 0)
            return Some(onIndex, element, array);
        Clause most = Try(() => Some(onIndex, element, array)) ?? Clause.Always;
        if (most is { Check: null } && most != Clause.Always)
            return most;

        return conditions.Looked(most, () => OfFilter(array, element, condition), quoted);
    }

    /// <summary>Translates the number of elements that match a condition, for <c>filter</c>.</summary>
    public string Count(DocumentPath array, ParameterExpression element, Expression condition) =>
        conditions.OnDocuments(() => OfFilter(array, element, condition, "count")).Text;

    private Clause OfFilter(DocumentPath array, ParameterExpression element, Expression condition, string function = "any")
    {
        string name = string.Create(CultureInfo.InvariantCulture, $"_e{_depth}");
        conditions.Paths.Enter(element, new DocumentPath(name, element.Type));
        _depth++;
        Clause meets = conditions.Of(condition);
        _depth--;
        return new Clause($"{function}({array.Text} as {name}, {meets.Whole})") { IsOfIndex = meets.IsOfIndex };
    }

    /// <summary>Returns what the index can evaluate; null if nothing.</summary>
    private Clause? Try(Func<Clause> translate)
    {
        _depth++;
        try
        {
            return translate();
        }
        catch (NotSupportedException)
        {
            return null;
        }
        finally
        {
            _depth--;
        }
    }

    private Clause Some(Expression condition, ParameterExpression element, DocumentPath array)
    {
        if (!PathTranslator.DependsOn(condition, element))
            return Clause.And(conditions.Of(condition), ConditionTranslator.HasAtLeast(array, 1, condition));
        switch (condition)
        {
            case UnaryExpression { NodeType: ExpressionType.Not } not
                when Opposite(not.Operand) is var opposite && opposite is not UnaryExpression { NodeType: ExpressionType.Not }:
                return Some(opposite, element, array);
            case UnaryExpression { NodeType: ExpressionType.Not, Operand: MemberExpression }:
                return conditions.Of(condition); // a negated boolean member
            case UnaryExpression { NodeType: ExpressionType.Not }:
                throw Refusal.Of(
                    condition,
                    "An index can tell whether no element meets a condition, but not whether some element does not. Write "
                        + "'!x.List.Any(condition)' if none may meet it.");
            case BinaryExpression { NodeType: ExpressionType.OrElse } or:
                return Clause.Or(Some(or.Left, element, array), Some(or.Right, element, array));
            case BinaryExpression { NodeType: ExpressionType.AndAlso } and:
                return Both(and, element, array);
            default:
                return conditions.Of(condition);
        }
    }

    private Clause Both(BinaryExpression and, ParameterExpression element, DocumentPath array)
    {
        var parts = new List<Expression>();
        Flatten(and, parts);
        List<Expression> own = parts.FindAll(part => PathTranslator.DependsOn(part, element));
        Clause others = Clause.And(parts.Except(own).Select(conditions.Of));
        if (own.Count == 1)
            return Clause.And(Some(own[0], element, array), others);
        if (own.Count == 2 && Between(own[0], own[1]) is { } range)
            return Clause.And(range, others);

        // Each matches some element, but not necessarily the same one: the caller has them evaluated by filter.
        IEnumerable<Clause> each = own.Select(part => Try(() => Some(part, element, array)) ?? Clause.Always);
        Clause most = Clause.And(each.Append(others));
        return most with { Check = most.Check ?? new ElementCheck(Clause.Never, Clause.Always, Clause.Always, and) };
    }

    /// <summary>Combines two bounds of one member to a range, which the index evaluates for one element.</summary>
    private Clause? Between(Expression first, Expression second)
    {
        if (BoundOf(first) is not { } a || BoundOf(second) is not { } b || a.Path.Text != b.Path.Text || a.IsLower == b.IsLower)
            return null;
        (object low, object high) = a.IsLower ? (a.Value, b.Value) : (b.Value, a.Value);
        string lowName = conditions.Parameters.Add(low);
        return new Clause($"{a.Path.Compared} between {lowName} and {conditions.Parameters.Add(high)}");
    }

    private (DocumentPath Path, bool IsLower, object Value)? BoundOf(Expression condition)
    {
        if (condition is not BinaryExpression
            {
                NodeType: ExpressionType.LessThan or ExpressionType.LessThanOrEqual
            or ExpressionType.GreaterThan or ExpressionType.GreaterThanOrEqual
            } bound)
            return null;
        bool isMirrored = conditions.Paths.DependsOnDocument(bound.Right);
        (Expression subject, Expression limit) = isMirrored ? (bound.Right, bound.Left) : (bound.Left, bound.Right);
        if (conditions.Paths.DependsOnDocument(limit)
            || conditions.Paths.TryFind(subject) is not { IsId: false } path
            || !HasOrderInText(Nullable.GetUnderlyingType(path.Type) ?? path.Type))
            return null;
        bool isLower = (bound.NodeType is ExpressionType.GreaterThan or ExpressionType.GreaterThanOrEqual) != isMirrored;
        bool isOpen = bound.NodeType is ExpressionType.GreaterThan or ExpressionType.LessThan;
        object? value = Interpreter.ValueOf(limit);
        return (isOpen ? Next(value, isLower) : value) is { } closed ? (path, isLower, closed) : null;
    }

    /// <summary>Whether values are stored as what sorts as they do, without a conversion of the bound.</summary>
    private static bool HasOrderInText(Type type) =>
        !type.IsEnum
            && type != typeof(TimeSpan)
            && type != typeof(char)
            && type != typeof(float);

    /// <summary>Returns the first value after a bound, or the last before it.</summary>
    private static object? Next(object? value, bool upwards) => value switch
    {
        int number => (long)number + (upwards ? 1 : -1),
        long number when number is > long.MinValue and < long.MaxValue => number + (upwards ? 1 : -1),
        double number when double.IsFinite(number) => upwards ? Math.BitIncrement(number) : Math.BitDecrement(number),
        DateTime time when time > DateTime.MinValue && time < DateTime.MaxValue => time.AddTicks(upwards ? 1 : -1),
        DateTimeOffset time when time.UtcTicks > DateTime.MinValue.Ticks && time.UtcTicks < DateTime.MaxValue.Ticks =>
            time.ToUniversalTime().AddTicks(upwards ? 1 : -1),
        _ => null,
    };

    private static void Flatten(Expression condition, List<Expression> parts)
    {
        if (condition is BinaryExpression { NodeType: ExpressionType.AndAlso } and)
        {
            Flatten(and.Left, parts);
            Flatten(and.Right, parts);
        }
        else
        {
            parts.Add(condition);
        }
    }

    /// <summary>Returns the negation of a condition, with negations moved inwards.</summary>
    private static Expression Opposite(Expression condition) => condition switch
    {
        UnaryExpression { NodeType: ExpressionType.Not } not => not.Operand,
        BinaryExpression { NodeType: ExpressionType.AndAlso } and => Expression.OrElse(Opposite(and.Left), Opposite(and.Right)),
        BinaryExpression { NodeType: ExpressionType.OrElse } or => Expression.AndAlso(Opposite(or.Left), Opposite(or.Right)),
        BinaryExpression { NodeType: ExpressionType.Equal } equal =>
            Expression.MakeBinary(ExpressionType.NotEqual, equal.Left, equal.Right),
        BinaryExpression { NodeType: ExpressionType.NotEqual } different =>
            Expression.MakeBinary(ExpressionType.Equal, different.Left, different.Right),
        BinaryExpression { NodeType: ExpressionType.LessThan } node when HasOrder(node) =>
            Expression.MakeBinary(ExpressionType.GreaterThanOrEqual, node.Left, node.Right),
        BinaryExpression { NodeType: ExpressionType.LessThanOrEqual } node when HasOrder(node) =>
            Expression.MakeBinary(ExpressionType.GreaterThan, node.Left, node.Right),
        BinaryExpression { NodeType: ExpressionType.GreaterThan } node when HasOrder(node) =>
            Expression.MakeBinary(ExpressionType.LessThanOrEqual, node.Left, node.Right),
        BinaryExpression { NodeType: ExpressionType.GreaterThanOrEqual } node when HasOrder(node) =>
            Expression.MakeBinary(ExpressionType.LessThan, node.Left, node.Right),
        _ => Expression.Not(condition),
    };

    /// <summary>Whether exactly one of less, equal and greater holds for two values: not if one can be null or NaN.</summary>
    private static bool HasOrder(BinaryExpression node) =>
        Nullable.GetUnderlyingType(node.Left.Type) is null && Nullable.GetUnderlyingType(node.Right.Type) is null;
}
