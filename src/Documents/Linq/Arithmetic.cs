using System.Globalization;
using System.Linq.Expressions;
using System.Numerics;

namespace Treepie.Linq;

/// <summary>
/// The built-in operators of C# on boxed values. The compiler has already converted both operands to the same type.
/// </summary>
internal static class Arithmetic
{
    public static object? Convert(object? value, Type target, bool isChecked)
    {
        Type wanted = Nullable.GetUnderlyingType(target) ?? target;
        if (value is null)
            return target.IsValueType && wanted == target
                ? throw new InvalidOperationException("Nothing has no value to convert.")
                : null;
        if (wanted.IsInstanceOfType(value))
            return value;
        if (wanted.IsEnum)
            return Enum.ToObject(wanted, value);
        if (value is Enum)
            value = System.Convert.ChangeType(value, Enum.GetUnderlyingType(value.GetType()), CultureInfo.InvariantCulture);
        if (value is char sign)
            value = (int)sign;
        if (wanted == typeof(char))
            return (char)System.Convert.ToInt32(value, CultureInfo.InvariantCulture);
        return value is double or float && wanted != typeof(double) && wanted != typeof(float)
            ? Truncated(System.Convert.ToDouble(value, CultureInfo.InvariantCulture), wanted)
                : isChecked
                    || wanted == typeof(double)
                    || wanted == typeof(float)
                    || wanted == typeof(decimal)
                    || value is not IConvertible ? System.Convert.ChangeType(value, wanted, CultureInfo.InvariantCulture)
                : Wrapped(
                    value is ulong big ? unchecked((long)big) : System.Convert.ToInt64(value, CultureInfo.InvariantCulture),
                    wanted);
    }

    public static object Unary(UnaryExpression node, object value) => (node.NodeType, value) switch
    {
        (ExpressionType.Not, bool truth) => !truth,
        (ExpressionType.Not or ExpressionType.OnesComplement, int number) => ~number,
        (ExpressionType.Not or ExpressionType.OnesComplement, long number) => ~number,
        (ExpressionType.UnaryPlus, _) => value,
        (_, int number) => unchecked(-number),
        (_, long number) => unchecked(-number),
        (_, double number) => -number,
        (_, float number) => -number,
        (_, decimal number) => -number,
        _ => throw Refusal.Of(node, "Compute the value before the query, in a variable, and name that."),
    };

    public static object? Binary(BinaryExpression node, object? left, object? right)
    {
        switch (node.NodeType)
        {
            case ExpressionType.Equal:
                return Equals(left, right);
            case ExpressionType.NotEqual:
                return !Equals(left, right);
            case ExpressionType.LessThan or ExpressionType.LessThanOrEqual or ExpressionType.GreaterThan
                or ExpressionType.GreaterThanOrEqual:
                return Compare(node, left, right);
        }

        if (left is null || right is null)
            return null;
        return (left, right) switch
        {
            (bool a, bool b) => node.NodeType switch
            {
                ExpressionType.And => a & b,
                ExpressionType.Or =>
                a | b,
                ExpressionType.ExclusiveOr => a ^ b,
                _ => throw Unknown(node)
            },
            (_, int by) when Shifted(node, left, by) is { } shifted => shifted,
            (int a, int b) => OfWhole(node, a, b),
            (uint a, uint b) => OfWhole(node, a, b),
            (long a, long b) => OfWhole(node, a, b),
            (ulong a, ulong b) => OfWhole(node, a, b),
            (double a, double b) => OfDouble(node, a, b),
            (float a, float b) => (float)OfDouble(node, a, b),
            (decimal a, decimal b) => OfDecimal(node, a, b),
            _ => throw Unknown(node),
        };
    }

    private static bool Compare(BinaryExpression node, object? left, object? right)
    {
        if (left is null || right is null || left is double.NaN or float.NaN || right is double.NaN or float.NaN)
            return false;
        int order = left is IComparable comparable ? comparable.CompareTo(right) : throw Unknown(node);
        return node.NodeType switch
        {
            ExpressionType.LessThan => order < 0,
            ExpressionType.LessThanOrEqual => order <= 0,
            ExpressionType.GreaterThan => order > 0,
            _ => order >= 0,
        };
    }

    private static object? Shifted(BinaryExpression node, object value, int by) => (node.NodeType, value) switch
    {
        (ExpressionType.LeftShift, int number) => number << by,
        (ExpressionType.RightShift, int number) => number >> by,
        (ExpressionType.LeftShift, uint number) => number << by,
        (ExpressionType.RightShift, uint number) => number >> by,
        (ExpressionType.LeftShift, long number) => number << by,
        (ExpressionType.RightShift, long number) => number >> by,
        (ExpressionType.LeftShift, ulong number) => number << by,
        (ExpressionType.RightShift, ulong number) => number >> by,
        _ => null,
    };

    private static T OfWhole<T>(BinaryExpression node, T a, T b)
        where T : IBinaryInteger<T> => node.NodeType switch
        {
            ExpressionType.Add => unchecked(a + b),
            ExpressionType.AddChecked => checked(a + b),
            ExpressionType.Subtract => unchecked(a - b),
            ExpressionType.SubtractChecked => checked(a - b),
            ExpressionType.Multiply => unchecked(a * b),
            ExpressionType.MultiplyChecked => checked(a * b),
            ExpressionType.Divide => a / b,
            ExpressionType.Modulo => a % b,
            ExpressionType.And => a & b,
            ExpressionType.Or => a | b,
            ExpressionType.ExclusiveOr => a ^ b,
            _ => throw Unknown(node),
        };

    private static double OfDouble(BinaryExpression node, double a, double b) => node.NodeType switch
    {
        ExpressionType.Add or ExpressionType.AddChecked => a + b,
        ExpressionType.Subtract or ExpressionType.SubtractChecked => a - b,
        ExpressionType.Multiply or ExpressionType.MultiplyChecked => a * b,
        ExpressionType.Divide => a / b,
        ExpressionType.Modulo => a % b,
        _ => throw Unknown(node),
    };

    private static decimal OfDecimal(BinaryExpression node, decimal a, decimal b) => node.NodeType switch
    {
        ExpressionType.Add => a + b,
        ExpressionType.Subtract => a - b,
        ExpressionType.Multiply => a * b,
        ExpressionType.Divide => a / b,
        ExpressionType.Modulo => a % b,
        _ => throw Unknown(node),
    };

    private static object Truncated(double value, Type wanted) =>
        wanted == typeof(decimal) ? (decimal)value : Wrapped(unchecked((long)value), wanted);

    private static object Wrapped(long value, Type wanted) => Type.GetTypeCode(wanted) switch
    {
        TypeCode.SByte => unchecked((sbyte)value),
        TypeCode.Byte => unchecked((byte)value),
        TypeCode.Int16 => unchecked((short)value),
        TypeCode.UInt16 => unchecked((ushort)value),
        TypeCode.Int32 => unchecked((int)value),
        TypeCode.UInt32 => unchecked((uint)value),
        TypeCode.Int64 => value,
        TypeCode.UInt64 => unchecked((ulong)value),
        _ => System.Convert.ChangeType(value, wanted, CultureInfo.InvariantCulture),
    };

    private static NotSupportedException Unknown(BinaryExpression node) =>
        Refusal.Of(node, "Compute the value before the query, in a variable, and name that.");
}
