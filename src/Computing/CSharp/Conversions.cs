using System.Globalization;
using Treepie.Computations;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>
/// Converts values to the types that functions and casts require. Null and missing remain unchanged unless noted.
/// </summary>
internal static class Conversions
{
    /// <summary>Converts to a string; null and missing to an empty one.</summary>
    public static string Text(Value value) => Text(value, null);

    public static string Text(Value value, string? format)
    {
        if (format is not null && !ValueFormat.IsBounded(format))
            throw new ComputingException(
                $"a format has at most {ValueFormat.MaxLength} characters and asks for at most 99 digits.");
        try
        {
            return value.Kind switch
            {
                ValueKind.String when format is not null && TimeTexts.TryParse(value.Text, out DateTime time) =>
                    time.ToString(format, CultureInfo.InvariantCulture),
                ValueKind.String => value.Text,
                ValueKind.Missing or ValueKind.Null => "",
                ValueKind.Boolean => value.IsTrue ? "True" : "False",
                ValueKind.Long => value.Long.ToString(format, CultureInfo.InvariantCulture),
                ValueKind.Double when format is null && value.Spelling is { } spelling => spelling,
                ValueKind.Double => value.AsDouble().ToString(format, CultureInfo.InvariantCulture),
                ValueKind.Decimal => value.AsDecimal().ToString(format, CultureInfo.InvariantCulture),
                ValueKind.Time when format is null => TimeTexts.Write(value.Time),
                ValueKind.Time => value.Time.ToString(format, CultureInfo.InvariantCulture),
                ValueKind.Span => value.Span.ToString(format, CultureInfo.InvariantCulture),
                _ => throw new ComputingException($"{value.Describe()} is no text."),
            };
        }
        catch (FormatException)
        {
            throw new ComputingException($"'{format}' is no format of {value.Describe()}.");
        }
    }

    /// <summary>Converts to a 32-bit integer.</summary>
    public static int Int(Value value) =>
        Long(value) is >= int.MinValue and <= int.MaxValue and var number
            ? (int)number
            : throw new ComputingException("a number is too large here.");

    public static long Long(Value value) =>
        Cast("long", value) is { Kind: ValueKind.Long } number
            ? number.Long
            : throw new ComputingException($"{value.Describe()} stands where a number is expected.");

    public static double Double(Value value) => value.IsNumber ? value.AsDouble()
        : value.Kind == ValueKind.String
            && double.TryParse(value.Text, NumberStyles.Float, CultureInfo.InvariantCulture, out double number) ? number
        : throw new ComputingException($"{value.Describe()} stands where a number is expected.");

    /// <summary>Converts a string to a number; numbers and time spans are unchanged.</summary>
    public static Value Number(Value value) => value.IsNumber || value.Kind == ValueKind.Span ? value : Value.Of(Double(value));

    /// <summary>Converts to a time; null and missing to null.</summary>
    public static DateTime? Time(Value value) => value.Kind switch
    {
        ValueKind.Missing or ValueKind.Null => null,
        ValueKind.Time => value.Time,
        ValueKind.String when TimeTexts.TryParse(value.Text, out DateTime time) => time,
        _ => throw new ComputingException($"{value.Describe()} is no time."),
    };

    /// <summary>Casts a value to a C# type; unknown types leave it unchanged.</summary>
    public static Value Cast(string type, Value value)
    {
        if (value.IsNothing)
            return value;
        try
        {
            return type switch
            {
                "string" => Value.Of(Text(value)),
                "bool" => value.Kind == ValueKind.Boolean
                    ? value
                    : value.Kind == ValueKind.String && bool.TryParse(value.Text, out bool flag)
                    ? Value.Of(flag)
                    : throw Unfit(type, value),
                "int" => Value.Of((long)checked((int)Whole(type, value))),
                "short" => Value.Of((long)checked((short)Whole(type, value))),
                "byte" => Value.Of((long)checked((byte)Whole(type, value))),
                "uint" => Value.Of((long)checked((uint)Whole(type, value))),
                "long" or "ulong" => Value.Of(Whole(type, value)),
                "double" => Value.Of(Double(value), value.Spelling),
                "float" => Value.Of((double)(float)Double(value)),
                "decimal" => Value.Of(
                    value.IsNumber
                        ? value.AsDecimal()
                        : decimal.Parse(Text(value), NumberStyles.Float, CultureInfo.InvariantCulture)),
                "DateTime" or "DateTimeOffset" => Value.Of(Time(value) ?? default),
                "DateOnly" => Value.Of((Time(value) ?? default).ToString("yyyy-MM-dd", CultureInfo.InvariantCulture)),
                "TimeOnly" => Value.Of(TimeTexts.Write(TimeOfDay(value))),
                "TimeSpan" =>
                    value.Kind == ValueKind.Span ? value : Value.Of(TimeSpan.Parse(Text(value), CultureInfo.InvariantCulture)),
                _ => value,
            };
        }
        catch (Exception error) when (error is FormatException or OverflowException or ArgumentOutOfRangeException)
        {
            throw Unfit(type, value);
        }
    }

    private static TimeSpan TimeOfDay(Value value) => value.Kind switch
    {
        ValueKind.Span => TimeOnly.FromTimeSpan(TimeSpan.Parse(Text(value), CultureInfo.InvariantCulture)).ToTimeSpan(),
        ValueKind.String when !TimeTexts.TryParse(value.Text, out _) =>
            TimeOnly.Parse(value.Text, CultureInfo.InvariantCulture).ToTimeSpan(),
        _ => (Time(value) ?? default).TimeOfDay,
    };

    /// <summary>Returns whether a value has a C# type; null if the type is unknown.</summary>
    public static bool? Is(string type, Value value) => type switch
    {
        "string" => value.Kind == ValueKind.String,
        "bool" => value.Kind == ValueKind.Boolean,
        "int" or "long" or "short" or "byte" => value.Kind == ValueKind.Long,
        "double" or "float" => value.Kind == ValueKind.Double,
        "decimal" => value.Kind is ValueKind.Decimal,
        "DateTime" => value.Kind == ValueKind.Time || (value.Kind == ValueKind.String && TimeTexts.TryParse(value.Text, out _)),
        "object" or "dynamic" => !value.IsNothing,
        "IEnumerable" or "object[]" => value.Kind == ValueKind.Array,
        _ => null,
    };

    private static long Whole(string type, Value value) => value.Kind switch
    {
        ValueKind.Long => value.Long,
        ValueKind.Double or ValueKind.Decimal => checked((long)value.AsDecimal()),
        ValueKind.String => checked((long)decimal.Parse(value.Text, NumberStyles.Float, CultureInfo.InvariantCulture)),
        _ => throw Unfit(type, value),
    };

    private static ComputingException Unfit(string type, Value value) =>
        new(
            value.Kind is ValueKind.String or ValueKind.Double or ValueKind.Long or ValueKind.Decimal
                && Text(value) is { Length: < 64 } text ? $"'{text}' is no {type}." : $"{value.Describe()} is no {type}.");
}
