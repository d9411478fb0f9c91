using System.Globalization;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>
/// Operators on values. With null or missing, arithmetic results in null, and order comparisons and conditions are
/// false.
/// </summary>
internal static class Operators
{
    public static bool IsTrue(Value value) => value.IsTrue;

    public static Value Flag(bool value) => Value.Of(value);

    public static Value Not(Value value) => Value.Of(!value.IsTrue);

    public static Value Equal(Value left, Value right) => Value.Of(left.Equals(right));

    public static Value NotEqual(Value left, Value right) => Value.Of(!left.Equals(right));

    public static Value Less(Value left, Value right) => Value.Of(Compare(left, right) is < 0);

    public static Value LessOrEqual(Value left, Value right) => Value.Of(Compare(left, right) is <= 0);

    public static Value Greater(Value left, Value right) => Value.Of(Compare(left, right) is > 0);

    public static Value GreaterOrEqual(Value left, Value right) => Value.Of(Compare(left, right) is >= 0);

    public static Value Add(Run run, Value left, Value right)
    {
        if (left.Kind == ValueKind.String || right.Kind == ValueKind.String)
        {
            string first = Conversions.Text(left), second = Conversions.Text(right);
            run.Characters((long)first.Length + second.Length);
            return Value.Of(first + second);
        }

        if (left.IsNothing || right.IsNothing)
            return Value.Null;
        return (left.Kind, right.Kind) switch
        {
            (ValueKind.Time, ValueKind.Span) => Shift(left.Time, right.Span),
            (ValueKind.Span, ValueKind.Span) => Value.Of(left.Span + right.Span),
            _ => Arithmetic('+', left, right),
        };
    }

    public static Value Subtract(Value left, Value right)
    {
        (left, right) = (TimeOr(left, right), TimeOr(right, left));
        if (left.IsNothing || right.IsNothing)
            return Value.Null;
        return (left.Kind, right.Kind) switch
        {
            (ValueKind.Time, ValueKind.Time) => Value.Of(left.Time - right.Time),
            (ValueKind.Time, ValueKind.Span) => Shift(left.Time, -right.Span),
            (ValueKind.Span, ValueKind.Span) => Value.Of(left.Span - right.Span),
            _ => Arithmetic('-', left, right),
        };
    }

    public static Value Multiply(Value left, Value right) => Arithmetic('*', left, right);

    public static Value Divide(Value left, Value right) => Arithmetic('/', left, right);

    public static Value Remainder(Value left, Value right) => Arithmetic('%', left, right);

    public static Value Negate(Value value) => Arithmetic('-', Value.Of(0L), value);

    public static Value Coalesce(Value left, Func<Value> right) => left.IsNothing ? right() : left;

    public static Value Bits(string sign, Value left, Value right)
    {
        if (left.IsNothing || right.IsNothing)
            return Value.Null;
        if (left.Kind == ValueKind.Boolean && right.Kind == ValueKind.Boolean)
            return Value.Of(
                sign switch
                {
                    "&" => left.IsTrue & right.IsTrue,
                    "|" => left.IsTrue | right.IsTrue,
                    _ =>
                    left.IsTrue ^ right.IsTrue
                });
        if (left.Kind != ValueKind.Long || right.Kind != ValueKind.Long)
            throw Unfit(sign, left, right);
        return Value.Of(sign switch
        {
            "&" => left.Long & right.Long,
            "|" => left.Long | right.Long,
            "^" => left.Long ^ right.Long,
            "<<" => left.Long << (int)right.Long,
            _ => left.Long >> (int)right.Long,
        });
    }

    public static Value Shift(DateTime time, TimeSpan by)
    {
        try
        {
            return Value.Of(time + by);
        }
        catch (ArgumentOutOfRangeException)
        {
            throw new ComputingException("a time is outside the years 1 to 9999.");
        }
    }

    private static Value Arithmetic(char sign, Value left, Value right)
    {
        if (left.IsNothing || right.IsNothing)
            return Value.Null;
        if (!left.IsNumber || !right.IsNumber)
            throw Unfit(sign.ToString(), left, right);
        try
        {
            if (left.Kind == ValueKind.Decimal || right.Kind == ValueKind.Decimal)
                return Value.Of(Decimals(sign, left.AsDecimal(), right.AsDecimal()));
            if (left.Kind == ValueKind.Long && right.Kind == ValueKind.Long)
                return Value.Of(Longs(sign, left.Long, right.Long));
            return Value.Of(Doubles(sign, left.AsDouble(), right.AsDouble()));
        }
        catch (OverflowException)
        {
            throw new ComputingException($"the result of '{sign}' is too large for its kind of number.");
        }
        catch (DivideByZeroException)
        {
            throw new ComputingException("it divides by zero.");
        }
    }

    private static decimal Decimals(char sign, decimal left, decimal right) => sign switch
    {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        '/' => left / right,
        _ => left % right,
    };

    private static long Longs(char sign, long left, long right) => sign switch
    {
        '+' => checked(left + right),
        '-' => checked(left - right),
        '*' => checked(left * right),
        '/' => left / right,
        _ => right == -1 ? 0 : left % right,
    };

    private static double Doubles(char sign, double left, double right) => sign switch
    {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        '/' => right == 0 ? throw new DivideByZeroException() : left / right,
        _ => right == 0 ? throw new DivideByZeroException() : left % right,
    };

    /// <summary>Compares two values; returns null if one is null or missing.</summary>
    private static int? Compare(Value left, Value right)
    {
        (left, right) = (TimeOr(left, right), TimeOr(right, left));
        if (left.IsNothing || right.IsNothing)
            return null;
        if (left.IsNumber && right.IsNumber)
            return ValueOrder.CompareNumbers(left, right);
        return left.Kind == right.Kind && left.Kind is ValueKind.Time or ValueKind.Span or ValueKind.String
            ? ValueOrder.Instance.Compare(left, right)
            : throw new ComputingException(
                string.Create(CultureInfo.InvariantCulture, $"{left.Describe()} and {right.Describe()} have no order."));
    }

    /// <summary>Converts a string that represents a time or time span if the other operand is one.</summary>
    private static Value TimeOr(Value value, Value other) => value.Kind != ValueKind.String ? value : other.Kind switch
    {
        ValueKind.Time when TimeTexts.TryParse(value.Text, out DateTime time) => Value.Of(time),
        ValueKind.Span when TimeSpan.TryParse(value.Text, CultureInfo.InvariantCulture, out TimeSpan span) => Value.Of(span),
        _ => value,
    };

    private static ComputingException Unfit(string sign, Value left, Value right) =>
        new($"'{sign}' does not go with {left.Describe()} and {right.Describe()}.");
}
