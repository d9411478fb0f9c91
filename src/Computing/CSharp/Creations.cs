using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>Creates objects, arrays, times and time spans.</summary>
internal static class Creations
{
    public static Value Items(Value[] items) => Value.Of(items);

    public static Value Members(string[] names, Value[] values)
    {
        var made = new ValueObject();
        for (int i = 0; i < names.Length; i++)
            made.With(names[i], values[i]);
        return Value.Of(made);
    }

    public static Value Pairs(Value[] names, Value[] values)
    {
        var made = new ValueObject();
        for (int i = 0; i < names.Length; i++)
            made.With(Conversions.Text(names[i]), values[i]);
        return Value.Of(made);
    }

    public static Value Time(Value[] parts)
    {
        try
        {
            int[] numbers = [.. parts.Select(Conversions.Int)];
            return numbers.Length switch
            {
                3 => Value.Of(new DateTime(numbers[0], numbers[1], numbers[2])),
                6 => Value.Of(new DateTime(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])),
                7 => Value.Of(new DateTime(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6])),
                _ => throw new ComputingException(
                    "a time is made of year, month and day, or these with hour, minute, second and millisecond."),
            };
        }
        catch (ArgumentOutOfRangeException)
        {
            throw new ComputingException($"there is no time ({string.Join(", ", parts.Select(Conversions.Text))}).");
        }
    }

    public static Value Span(Value[] parts)
    {
        try
        {
            int[] numbers = [.. parts.Select(Conversions.Int)];
            return numbers.Length switch
            {
                3 => Value.Of(new TimeSpan(numbers[0], numbers[1], numbers[2])),
                4 => Value.Of(new TimeSpan(numbers[0], numbers[1], numbers[2], numbers[3])),
                _ => throw new ComputingException("a length of time is made of hours, minutes and seconds, or days and these."),
            };
        }
        catch (ArgumentOutOfRangeException)
        {
            throw new ComputingException("a length of time is too long.");
        }
    }
}
