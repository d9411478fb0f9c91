using System.Collections.Frozen;
using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// Translates values that are computed of a member: the length of a text, parts of a time, the number of elements. An index that
/// queries make has those of a whole document as fields. For others, the documents that other conditions leave are examined.
/// </summary>
/// <param name="conditions">Translates members and conditions.</param>
/// <param name="elements">Translates conditions on elements.</param>
/// <param name="computes">Whether the index computes fields.</param>
internal sealed class ComputedTranslator(ConditionTranslator conditions, ElementTranslator elements, bool computes)
{
    /// <summary>The parts of times, by the names of .NET, as functions of RQL.</summary>
    private static readonly FrozenDictionary<string, string> _parts = new Dictionary<string, string>
    {
        ["Year"] = "year",
        ["Month"] = "month",
        ["Day"] = "day",
        ["DayOfYear"] = "dayOfYear",
        ["DayOfWeek"] = "dayOfWeek",
        ["Hour"] = "hour",
        ["Minute"] = "minute",
        ["Second"] = "second",
        ["Millisecond"] = "millisecond",
        ["Date"] = "date",
    }.ToFrozenDictionary();

    /// <summary>Returns the value in RQL, for <c>filter</c>; null if the expression is none.</summary>
    public string? TryFind(Expression expression)
    {
        if (expression is UnaryExpression { NodeType: ExpressionType.Convert, Method: null } convert)
            return TryFind(convert.Operand);
        return conditions.OnDocuments(() => expression switch
        {
            MemberExpression { Expression: { } text, Member.Name: "Length" } when text.Type == typeof(string) =>
                Call("length", text),
            MemberExpression { Expression: { } time } part
                when IsTime(time.Type) && _parts.TryGetValue(part.Member.Name, out string? function) => Call(function, time),
            MethodCallExpression { Method.Name: "Count" or "LongCount", Arguments: [{ } list, LambdaExpression condition] } call
                when call.Method.DeclaringType == typeof(Enumerable) && ArrayOf(list) is { } array =>
                elements.Count(array, condition.Parameters[0], condition.Body),
            _ when conditions.LengthOf(expression) is { } array => $"count({array.Text})",
            _ => null,
        });
    }

    /// <summary>Returns the value in RQL if the index has it as a field; else null.</summary>
    public string? TryFindField(Expression expression) =>
        TryFind(expression) is { } computed && IsField(computed) ? computed : null;

    /// <summary>Translates the comparison of such a value with another; null if the expression is none.</summary>
    /// <param name="left">The value.</param>
    /// <param name="sign">The comparison in RQL.</param>
    /// <param name="value">The other value.</param>
    /// <param name="quoted">The whole expression, for error messages.</param>
    /// <param name="most">What an index without the value can tell; null: nothing.</param>
    public Clause? TryCompare(
        Expression left, string sign, object? value, Expression quoted, Func<Clause>? most = null) =>
        TryFind(left) is { } computed
            ? Examined(computed, () => new Clause($"{computed} {sign} {conditions.Parameters.Add(Plain(value))}"), quoted, most)
            : null;

    /// <summary>
    /// Translates the comparison of the number of elements that meet a condition; null if the expression is none. Whether there
    /// is one, an index can tell.
    /// </summary>
    public Clause? TryCompareCount(Expression left, ExpressionType type, object? value, string sign, Expression quoted)
    {
        while (left is UnaryExpression { NodeType: ExpressionType.Convert, Method: null } convert)
            left = convert.Operand;
        if (left is not MethodCallExpression
            {
                Method.Name: "Count" or "LongCount", Arguments: [{ } list, LambdaExpression of]
            } call
            || call.Method.DeclaringType != typeof(Enumerable)
            || ArrayOf(list) is not { } array
            || value is not (int or long))
            return null;
        long least = Convert.ToInt64(value, System.Globalization.CultureInfo.InvariantCulture);
        if (type == ExpressionType.GreaterThan)
            (type, least) = (ExpressionType.GreaterThanOrEqual, least + 1);
        if (type is not (ExpressionType.GreaterThanOrEqual or ExpressionType.Equal) || least < 1)
            return null;
        Clause any = elements.Any(array, of.Parameters[0], of.Body, quoted);
        return type == ExpressionType.GreaterThanOrEqual && least == 1
            ? any
            : conditions.Looked(
                any with { Check = null },
                () => new Clause($"{elements.Count(array, of.Parameters[0], of.Body)} {sign} {conditions.Parameters.Add(value)}"),
                quoted);
    }

    /// <summary>Translates membership of such a value in a list; null if the expression is none.</summary>
    public Clause? TryIn(Expression item, System.Collections.IEnumerable values, Expression quoted) =>
        TryFind(item) is { } computed
            ? Examined(
                computed,
                () => new Clause($"{computed} in ({conditions.Parameters.Add(values.Cast<object?>().Select(Plain))})"), quoted)
            : null;

    /// <summary>Whether values of a type are times.</summary>
    public static bool IsTime(Type type) =>
        (Nullable.GetUnderlyingType(type) ?? type) is var time
        && (time == typeof(DateTime) || time == typeof(DateTimeOffset) || time == typeof(DateOnly) || time == typeof(TimeOnly));

    /// <summary>Returns a condition on such a value, which documents are examined for if the index does not have it.</summary>
    private Clause Examined(string computed, Func<Clause> condition, Expression quoted, Func<Clause>? most = null) =>
        conditions.IsFilter || IsField(computed)
            ? condition()
            : conditions.Looked(most?.Invoke() ?? Clause.Always, condition, quoted);

    /// <summary>Whether a value is a field: of the document, not of an element or of elements that meet a condition.</summary>
    private bool IsField(string computed) =>
        computes
        && !computed.Contains("[]", StringComparison.Ordinal)
        && !computed.Contains(" as ", StringComparison.Ordinal);

    private string? Call(string function, Expression member) =>
        conditions.Paths.TryFind(member) is { IsRoot: false, IsId: false } path ? $"{function}({path.Text})" : null;

    private DocumentPath? ArrayOf(Expression list) =>
        conditions.Paths.TryFind(list) is { IsRoot: false } path && conditions.Paths.IsArray(path.Type) ? path : null;

    /// <summary>Converts a value to what the functions give.</summary>
    private static object? Plain(object? value) => value switch
    {
        Enum day => Convert.ToInt32(day, System.Globalization.CultureInfo.InvariantCulture),
        DateTime { TimeOfDay.Ticks: 0 } date => date.ToString("yyyy-MM-dd", System.Globalization.CultureInfo.InvariantCulture),
        _ => value,
    };
}
