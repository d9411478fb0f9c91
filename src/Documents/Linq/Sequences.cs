using System.Collections;
using System.Diagnostics.CodeAnalysis;
using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// Evaluates LINQ calls with functions inside a projection: <c>o.Lines.Where(l => l.Price > 1).Sum(l => l.Price)</c>. The
/// functions are interpreted for each element, without compilation.
/// </summary>
internal sealed class Sequences(Interpreter interpreter)
{
    /// <summary>Returns whether a call is supported: on one list, with functions of one element.</summary>
    public static bool Takes(MethodCallExpression call) =>
        call.Method.DeclaringType == typeof(Enumerable)
        && call.Arguments is [_, LambdaExpression { Parameters.Count: 1 }]
        && call.Method.Name is "Where" or "Select" or "SelectMany" or "Any" or "All" or "Count" or "LongCount" or "Sum" or "Min"
            or "Max" or "Average" or "First" or "FirstOrDefault" or "Last" or "LastOrDefault" or "Single" or "SingleOrDefault"
            or "OrderBy" or "OrderByDescending" or "ThenBy" or "ThenByDescending" or "TakeWhile" or "SkipWhile" or "MinBy"
            or "MaxBy" or "DistinctBy";

    public object? Of(MethodCallExpression call)
    {
        var function = (LambdaExpression)call.Arguments[1]; // checked by Takes
        object? Value(object? item) => interpreter.Apply(function, item);
        bool Holds(object? item) => Value(item) is true;
        if (call.Method.Name.StartsWith("OrderBy", StringComparison.Ordinal)
            || call.Method.Name.StartsWith("ThenBy", StringComparison.Ordinal))
            return Typed(Ordered(call), call);

        IEnumerable<object?> source = Items(call.Arguments[0]);
        return call.Method.Name switch
        {
            "Where" => Typed(source.Where(Holds), call),
            "Select" => Typed(source.Select(Value), call),
            "SelectMany" => Typed(source.SelectMany(item => Items(Value(item), function.Body)), call),
            "TakeWhile" => Typed(source.TakeWhile(Holds), call),
            "SkipWhile" => Typed(source.SkipWhile(Holds), call),
            "DistinctBy" => Typed(source.DistinctBy(Value), call),
            "Any" => source.Any(Holds),
            "All" => source.All(Holds),
            "Count" => source.Count(Holds),
            "LongCount" => source.LongCount(Holds),
            "First" => source.First(Holds),
            "FirstOrDefault" => source.FirstOrDefault(Holds, Interpreter.DefaultOf(call.Type)),
            "Last" => source.Last(Holds),
            "LastOrDefault" => source.LastOrDefault(Holds, Interpreter.DefaultOf(call.Type)),
            "Single" => source.Single(Holds),
            "SingleOrDefault" => source.SingleOrDefault(Holds, Interpreter.DefaultOf(call.Type)),
            "MinBy" => source.Any() || HasNull(call.Type) ? source.MinBy(Value) : throw Empty(),
            "MaxBy" => source.Any() || HasNull(call.Type) ? source.MaxBy(Value) : throw Empty(),
            _ => Aggregate(call.Method.Name, source.Select(Value), function.ReturnType),
        };
    }

    private static bool HasNull(Type type) => !type.IsValueType || Nullable.GetUnderlyingType(type) is not null;

    private static InvalidOperationException Empty() => new("Sequence contains no elements");

    private static object? Aggregate(string name, IEnumerable<object?> values, Type type)
    {
        var aggregate = new RowAggregate(name, type);
        foreach (object? value in values)
            aggregate.Add(value);
        return aggregate.Result;
    }

    private IOrderedEnumerable<object?> Ordered(MethodCallExpression call)
    {
        var function = (LambdaExpression)call.Arguments[1]; // checked by Takes
        object? Key(object? item) => interpreter.Apply(function, item);
        bool isDescending = call.Method.Name.EndsWith("Descending", StringComparison.Ordinal);
        if (call.Method.Name.StartsWith("OrderBy", StringComparison.Ordinal))
        {
            IEnumerable<object?> source = Items(call.Arguments[0]);
            return isDescending ? source.OrderByDescending(Key) : source.OrderBy(Key);
        }

        IOrderedEnumerable<object?> first = call.Arguments[0] is MethodCallExpression before && Takes(before)
            ? Ordered(before)
            : throw Refusal.Of(call, "ThenBy must follow OrderBy.");
        return isDescending ? first.ThenByDescending(Key) : first.ThenBy(Key);
    }

    private IEnumerable<object?> Items(Expression source) => Items(interpreter.Evaluate(source), source);

    private static IEnumerable<object?> Items(object? list, Expression source) =>
        (list as IEnumerable ?? throw new InvalidOperationException($"'{source}' is null and has no elements.")).Cast<object?>();

    [UnconditionalSuppressMessage(
        "AOT", "IL3050",
        Justification = "The expression names the method that gives a sequence of this type, whose code makes arrays of it.")]
    private static Array Typed(IEnumerable<object?> items, MethodCallExpression call)
    {
        object?[] values = [.. items];
        var typed = Array.CreateInstance(call.Type.GenericTypeArguments[0], values.Length); // all return IEnumerable<T>
        Array.Copy(values, typed, values.Length);
        return typed;
    }
}
