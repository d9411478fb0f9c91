using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Linq.Expressions;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Treepie.Linq;

/// <summary>
/// Evaluates an expression by interpreting it, without compilation, so it works where no code can be generated at run time. Nodes
/// with given values (columns of a row) are not evaluated.
/// </summary>
/// <param name="given">The values of nodes.</param>
/// <param name="documents">Loads the documents that the expression refers to; null outside of a query.</param>
internal sealed class Interpreter(
    IReadOnlyDictionary<Expression, object?>? given = null, LoadedDocuments? documents = null)
{
    private Dictionary<ParameterExpression, object?>? _arguments;

    /// <summary>Returns the value of an expression without parameters.</summary>
    public static object? ValueOf(Expression expression) => new Interpreter().Evaluate(expression);

    /// <summary>Returns the result of a function of one parameter.</summary>
    public object? Apply(LambdaExpression function, object? argument)
    {
        _arguments ??= [];
        _arguments[function.Parameters[0]] = argument;
        return Evaluate(function.Body);
    }

    public object? Evaluate(Expression expression)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        if (given is not null && given.TryGetValue(expression, out object? known))
            return known;
        return expression switch
        {
            ConstantExpression constant => constant.Value,
            ParameterExpression parameter when _arguments?.TryGetValue(parameter, out known) == true => known,
            MethodCallExpression call when documents is not null && LoadedDocuments.IsLoad(call) =>
                documents.Load(call.Type, Evaluate(call.Arguments[0]) as string),
            MethodCallExpression call when Sequences.Takes(call) => new Sequences(this).Of(call),
            MemberExpression member => Member(member),
            MethodCallExpression call => Call(call),
            UnaryExpression unary => Unary(unary),
            BinaryExpression binary => Binary(binary),
            ConditionalExpression choice => Evaluate(choice.Test) is true ? Evaluate(choice.IfTrue) : Evaluate(choice.IfFalse),
            NewExpression { Constructor: { } constructor } made =>
                Unwrapped(() => constructor.Invoke([.. made.Arguments.Select(Evaluate)])),
            NewExpression made => DefaultOf(made.Type),
            MemberInitExpression initialized => Initialize(initialized),
            ListInitExpression list => Initialize(list),
            NewArrayExpression array => Array(array),
            DefaultExpression => DefaultOf(expression.Type),
            InvocationExpression invocation =>
                (Evaluate(invocation.Expression) as Delegate)?.DynamicInvoke([.. invocation.Arguments.Select(Evaluate)]),
            TypeBinaryExpression { NodeType: ExpressionType.TypeIs } test =>
                test.TypeOperand.IsInstanceOfType(Evaluate(test.Expression)),
            LambdaExpression => throw Refusal.Of(
                expression,
                "Inside a projection or a value functions are arguments of LINQ methods that take one function of one element. "
                    + "Call others after the query, on what ToListAsync() gives."),
            _ => throw Refusal.Of(expression, "Compute the value before the query, in a variable, and name that."),
        };
    }

    /// <summary>Returns the default value of a type.</summary>
    [UnconditionalSuppressMessage(
        "Trimming", "IL2067", Justification = "Of a value type all zeros are wanted; no constructor is run.")]
    public static object? DefaultOf(Type type) =>
        type.IsValueType && Nullable.GetUnderlyingType(type) is null && type != typeof(void)
            ? RuntimeHelpers.GetUninitializedObject(type)
            : null;

    private object? Member(MemberExpression node)
    {
        object? owner = node.Expression is null ? null : Evaluate(node.Expression);
        if (owner is null && node.Expression is not null && LoadedDocuments.IsOfLoaded(node.Expression))
            return DefaultOf(node.Type);
        if (node.Expression is not null && Nullable.GetUnderlyingType(node.Expression.Type) is not null)
            return node.Member.Name == "HasValue" ? owner is not null : owner ?? throw Missing(node);
        if (node.Expression is not null && owner is null)
            throw Missing(node);
        return node.Member switch
        {
            FieldInfo field => field.GetValue(owner),
            PropertyInfo property => Unwrapped(() => property.GetValue(owner)),
            _ => throw Refusal.Of(node, "Compute the value before the query, in a variable, and name that."),
        };
    }

    private object? Call(MethodCallExpression node)
    {
        object? owner = node.Object is null ? null : Evaluate(node.Object);
        if (IsSpan(node.Type))
            throw Refusal.Of(node, "A span is no value that a query can hold. Take an array or a list.");
        if (node.Object is not null && Nullable.GetUnderlyingType(node.Object.Type) is not null && owner is null)
            return node.Method.Name == "GetValueOrDefault"
                ? node.Arguments is [{ } otherwise] ? Evaluate(otherwise) : DefaultOf(node.Type)
                : node.Method.Name == "ToString" ? "" : throw Missing(node);
        if (node.Object is not null
            && Nullable.GetUnderlyingType(node.Object.Type) is not null
            && node.Method.Name == "GetValueOrDefault")
            return owner;
        if (node.Object is not null && owner is null)
            throw Missing(node);
        object?[] arguments = [.. node.Arguments.Select(Evaluate)];
        return Unwrapped(() => node.Method.Invoke(owner, arguments));
    }

    private static bool IsSpan(Type type) => type.IsByRefLike;

    private object? Unary(UnaryExpression node)
    {
        if (node.NodeType == ExpressionType.Quote)
            return node.Operand;
        object? value = Evaluate(node.Operand);
        if (node.Method is { } method)
            return value is null && !AcceptsNull(node.Operand.Type, method)
                ? null
                : Unwrapped(() => method.Invoke(null, [value]));
        return node.NodeType switch
        {
            ExpressionType.Convert or ExpressionType.ConvertChecked =>
                Arithmetic.Convert(value, node.Type, node.NodeType == ExpressionType.ConvertChecked),
            ExpressionType.TypeAs => node.Type.IsInstanceOfType(value) ? value : null,
            ExpressionType.ArrayLength => value is Array array ? array.Length : throw Missing(node),
            ExpressionType.Not or ExpressionType.Negate or ExpressionType.NegateChecked or ExpressionType.UnaryPlus
                or ExpressionType.OnesComplement =>
                value is null ? null : Arithmetic.Unary(node, value),
            _ => throw Refusal.Of(node, "Compute the value before the query, in a variable, and name that."),
        };
    }

    private static bool AcceptsNull(Type operand, MethodInfo method) =>
        !operand.IsValueType
            || Nullable.GetUnderlyingType(operand) is null
            || Nullable.GetUnderlyingType(method.GetParameters()[0].ParameterType) is not null;

    private object? Binary(BinaryExpression node)
    {
        object? left = Evaluate(node.Left);
        switch (node.NodeType)
        {
            case ExpressionType.AndAlso when node.Method is null:
                return left is true && Evaluate(node.Right) is true;
            case ExpressionType.OrElse when node.Method is null:
                return left is true || Evaluate(node.Right) is true;
            case ExpressionType.Coalesce:
                return left is null
                    ? Evaluate(node.Right)
                    : node.Conversion is null ? left : throw Refusal.Of(node, "Compute the value before the query.");
            case ExpressionType.ArrayIndex:
                return (left as Array ?? throw Missing(node)).GetValue(
                    Convert.ToInt64(Evaluate(node.Right), CultureInfo.InvariantCulture));
        }

        object? right = Evaluate(node.Right);
        if (node.Method is { } method && !(node.IsLifted && (left is null || right is null)))
            return Unwrapped(() => method.Invoke(null, [left, right]));
        return Arithmetic.Binary(node, left, right);
    }

    private object Initialize(MemberInitExpression node)
    {
        object made = Evaluate(node.NewExpression)!; // not null: a constructor call
        foreach (MemberBinding binding in node.Bindings)
        {
            if (binding is not MemberAssignment assignment)
                throw Refusal.Of(node, "Give each member a value of its own: 'new T { Member = value }'.");
            object? value = Evaluate(assignment.Expression);
            if (assignment.Member is PropertyInfo property)
                Unwrapped(() => { property.SetValue(made, value); return null; });
            else
                ((FieldInfo)assignment.Member).SetValue(made, value); // an assignable member is a property or a field
        }

        return made;
    }

    private object Initialize(ListInitExpression node)
    {
        object made = Evaluate(node.NewExpression)!; // not null: a constructor call
        foreach (ElementInit element in node.Initializers)
        {
            object?[] arguments = [.. element.Arguments.Select(Evaluate)];
            Unwrapped(() => element.AddMethod.Invoke(made, arguments));
        }

        return made;
    }

    private Array Array(NewArrayExpression node)
    {
        if (node.NodeType == ExpressionType.NewArrayBounds)
            return System.Array.CreateInstanceFromArrayType(
                node.Type, Convert.ToInt32(Evaluate(node.Expressions[0]), CultureInfo.InvariantCulture));
        Array array = System.Array.CreateInstanceFromArrayType(node.Type, node.Expressions.Count);
        for (int i = 0; i < node.Expressions.Count; i++)
            array.SetValue(Evaluate(node.Expressions[i]), i);
        return array;
    }

    private static InvalidOperationException Missing(Expression node) =>
        new($"'{node}' is read of nothing: what stands before its last member is null.");

    /// <summary>Rethrows the original exception of the called code.</summary>
    private static object? Unwrapped(Func<object?> call)
    {
        try
        {
            return call();
        }
        catch (TargetInvocationException error) when (error.InnerException is { } inner)
        {
            System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(inner);
            throw;
        }
    }
}
