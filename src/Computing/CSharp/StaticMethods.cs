using System.Globalization;
using System.Text.RegularExpressions;
using Treepie.Computations;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>Static functions of types. Each public method is part of the vocabulary: <c>Type_Method</c>.</summary>
internal static class StaticMethods
{
    public static Value string_IsNullOrEmpty(Run run, Value text) =>
        Done(run, Value.Of(text.IsNothing || (text.Kind == ValueKind.String && text.Text.Length == 0)));

    public static Value string_IsNullOrWhiteSpace(Run run, Value text) =>
        Done(run, Value.Of(text.IsNothing || (text.Kind == ValueKind.String && string.IsNullOrWhiteSpace(text.Text))));

    public static Value string_Join(Run run, Value separator, Value items)
    {
        string[] texts = [.. run.Each(items).Select(Conversions.Text)];
        run.Characters(
            texts.Sum(static text => (long)text.Length)
                + ((long)Math.Max(0, texts.Length - 1) * Conversions.Text(separator).Length));
        return Value.Of(string.Join(Conversions.Text(separator), texts));
    }

    public static Value string_Join(Run run, Value separator, Value first, Value second) =>
        string_Join(run, separator, Value.Of([first, second]));

    public static Value string_Join(Run run, Value separator, Value first, Value second, Value third) =>
        string_Join(run, separator, Value.Of([first, second, third]));

    public static Value string_Concat(Run run, Value items) => string_Join(run, Value.Of(""), items);

    public static Value string_Concat(Run run, Value first, Value second) =>
        string_Join(run, Value.Of(""), Value.Of([first, second]));

    public static Value string_Concat(Run run, Value first, Value second, Value third) =>
        string_Join(run, Value.Of(""), Value.Of([first, second, third]));

    public static Value string_Equals(Run run, Value left, Value right) => Done(run, Value.Of(left.Equals(right)));

    public static Value string_Equals(Run run, Value left, Value right, Value ignoreCase) =>
        TextMethods.Equals(run, left, right, ignoreCase);

    public static Value string_Compare(Run run, Value left, Value right) => TextMethods.CompareTo(run, left, right);

    public static Value string_Format(Run run, Value format, Value first) => Format(run, format, [first]);

    public static Value string_Format(Run run, Value format, Value first, Value second) => Format(run, format, [first, second]);

    public static Value string_Format(Run run, Value format, Value first, Value second, Value third) =>
        Format(run, format, [first, second, third]);

    public static Value Math_Abs(Run run, Value x) =>
        Done(run, x.IsNothing ? x : Operators.Less(x, Value.Of(0L)).IsTrue ? Operators.Negate(x) : x);

    public static Value Math_Round(Run run, Value x) => Math_Round(run, x, Value.Of(0L));

    public static Value Math_Round(Run run, Value x, Value digits) =>
        Done(run, Real(x, number => Math.Round(number, Digits(digits)), number => Math.Round(number, Digits(digits))));

    public static Value Math_Floor(Run run, Value x) => Done(run, Real(x, Math.Floor, Math.Floor));

    public static Value Math_Ceiling(Run run, Value x) => Done(run, Real(x, Math.Ceiling, Math.Ceiling));

    public static Value Math_Truncate(Run run, Value x) => Done(run, Real(x, Math.Truncate, Math.Truncate));

    public static Value Math_Min(Run run, Value x, Value y) => Done(run, Operators.LessOrEqual(x, y).IsTrue ? x : y);

    public static Value Math_Max(Run run, Value x, Value y) => Done(run, Operators.GreaterOrEqual(x, y).IsTrue ? x : y);

    public static Value Math_Sqrt(Run run, Value x) => Done(run, Double(x, Math.Sqrt));

    public static Value Math_Log(Run run, Value x) => Done(run, Double(x, Math.Log));

    public static Value Math_Log10(Run run, Value x) => Done(run, Double(x, Math.Log10));

    public static Value Math_Exp(Run run, Value x) => Done(run, Double(x, Math.Exp));

    public static Value Math_Sin(Run run, Value x) => Done(run, Double(x, Math.Sin));

    public static Value Math_Cos(Run run, Value x) => Done(run, Double(x, Math.Cos));

    public static Value Math_Pow(Run run, Value x, Value y) =>
        Done(run, Double(x, number => Math.Pow(number, Conversions.Double(y))));

    public static Value Math_Sign(Run run, Value x) =>
        Done(run, x.IsNothing ? x : Value.Of((long)ValueOrder.CompareNumbers(x, Value.Of(0L))));

    public static Value int_Parse(Run run, Value text) => Done(run, Conversions.Cast("int", text));

    public static Value long_Parse(Run run, Value text) => Done(run, Conversions.Cast("long", text));

    public static Value double_Parse(Run run, Value text) => Done(run, Conversions.Cast("double", text));

    public static Value decimal_Parse(Run run, Value text) => Done(run, Conversions.Cast("decimal", text));

    public static Value bool_Parse(Run run, Value text) => Done(run, Conversions.Cast("bool", text));

    public static Value DateTime_Parse(Run run, Value text) => Done(run, Conversions.Cast("DateTime", text));

    public static Value DateOnly_Parse(Run run, Value text) => Done(run, Conversions.Cast("DateOnly", text));

    public static Value DateOnly_FromDateTime(Run run, Value time) => Done(run, Conversions.Cast("DateOnly", time));

    public static Value TimeOnly_Parse(Run run, Value text) => Done(run, Conversions.Cast("TimeOnly", text));

    public static Value TimeOnly_FromDateTime(Run run, Value time) => Done(run, Conversions.Cast("TimeOnly", time));

    public static Value DateTime_DaysInMonth(Run run, Value year, Value month) =>
        Done(
            run,
            Value.Of(
                (long)DateTime.DaysInMonth(
                    Math.Clamp(Conversions.Int(year), 1, 9999), Math.Clamp(Conversions.Int(month), 1, 12))));

    public static Value TimeSpan_Parse(Run run, Value text) => Done(run, Conversions.Cast("TimeSpan", text));

    public static Value TimeSpan_FromDays(Run run, Value count) => Span(run, count, TimeSpan.FromDays);

    public static Value TimeSpan_FromHours(Run run, Value count) => Span(run, count, TimeSpan.FromHours);

    public static Value TimeSpan_FromMinutes(Run run, Value count) => Span(run, count, TimeSpan.FromMinutes);

    public static Value TimeSpan_FromSeconds(Run run, Value count) => Span(run, count, TimeSpan.FromSeconds);

    public static Value TimeSpan_FromMilliseconds(Run run, Value count) => Span(run, count, TimeSpan.FromMilliseconds);

    public static Value Convert_ToInt32(Run run, Value x) => Done(run, Conversions.Cast("int", x));

    public static Value Convert_ToInt64(Run run, Value x) => Done(run, Conversions.Cast("long", x));

    public static Value Convert_ToDouble(Run run, Value x) => Done(run, Conversions.Cast("double", x));

    public static Value Convert_ToDecimal(Run run, Value x) => Done(run, Conversions.Cast("decimal", x));

    public static Value Convert_ToString(Run run, Value x) => TextMethods.ToString(run, x);

    public static Value Convert_ToBoolean(Run run, Value x) => Done(run, Conversions.Cast("bool", x));

    public static Value Enumerable_Range(Run run, Value start, Value count)
    {
        int most = Conversions.Int(count);
        return most is >= 0 and <= Run.MaxSteps
            ? Done(run, Value.Of(Enumerable.Range(0, most).Select(place => Value.Of(Conversions.Long(start) + place))))
            : throw new ComputingException($"a range of {most} is too long.");
    }

    public static Value Enumerable_Empty(Run run) => Done(run, Value.Of([]));

    public static Value Enumerable_Repeat(Run run, Value item, Value count) =>
        Done(run, Value.Of(Enumerable.Repeat(item, Math.Clamp(Conversions.Int(count), 0, Run.MaxSteps))));

    public static Value char_IsDigit(Run run, Value one) =>
        Done(run, Value.Of(Conversions.Text(one) is [char only] && char.IsDigit(only)));

    public static Value char_IsLetter(Run run, Value one) =>
        Done(run, Value.Of(Conversions.Text(one) is [char only] && char.IsLetter(only)));

    public static Value char_IsUpper(Run run, Value one) =>
        Done(run, Value.Of(Conversions.Text(one) is [char only] && char.IsUpper(only)));

    /// <summary>
    /// Matches a pattern. Patterns run in linear time, so none can run forever; those that cannot are rejected.
    /// </summary>
    public static Value Regex_IsMatch(Run run, Value text, Value pattern)
    {
        string input = Conversions.Text(text);
        run.Characters(input.Length);
        return Value.Of(run.Pattern(Conversions.Text(pattern)).IsMatch(input));
    }

    public static Value Regex_Replace(Run run, Value text, Value pattern, Value with)
    {
        string input = Conversions.Text(text), replacement = Conversions.Text(with);
        Regex regex = run.Pattern(Conversions.Text(pattern));
        run.Characters(input.Length + ((long)regex.Count(input) * replacement.Length * 4)); // a replacement can refer to groups
        return run.Made(regex.Replace(input, replacement));
    }

    public static Value Regex_Split(Run run, Value text, Value pattern)
    {
        string input = Conversions.Text(text);
        run.Characters(2L * input.Length);
        return Value.Of(run.Pattern(Conversions.Text(pattern)).Split(input).Select(static part => Value.Of(part)));
    }

    private static Value Format(Run run, Value format, object?[] values)
    {
        try
        {
            string pattern = Conversions.Text(format);
            if (pattern.Length > Run.MaxPatternLength || !ValueFormat.HasSmallNumbers(pattern))
                throw new ComputingException(
                    $"the pattern of 'string.Format' has at most {Run.MaxPatternLength:N0} characters, and no number of more "
                        + "than two digits in it: use PadLeft and PadRight, and '+' for the rest.");
            long longest = values.Max(static value => (long)Conversions.Text((Value)value!).Length);
            run.Characters(pattern.Length + ((long)pattern.AsSpan().Count('{') * longest)); // before the string is created
            return run.Made(
                string.Format(CultureInfo.InvariantCulture, pattern, [.. values.Select(static value => Plain((Value)value!))]));
        }
        catch (FormatException error)
        {
            throw new ComputingException(error.Message);
        }
    }

    private static object Plain(Value value) => value.Kind switch
    {
        ValueKind.Long => value.Long,
        ValueKind.Double => value.AsDouble(),
        ValueKind.Decimal => value.AsDecimal(),
        ValueKind.Time => value.Time,
        ValueKind.Span => value.Span,
        _ => Conversions.Text(value),
    };

    private static Value Done(Run run, Value value)
    {
        run.Step();
        return value;
    }

    private static int Digits(Value digits) =>
        Conversions.Int(digits) is >= 0 and <= 15 and var count
            ? count
            : throw new ComputingException("a number is rounded to 0 to 15 digits.");

    private static Value Real(Value x, Func<double, double> ofDouble, Func<decimal, decimal> ofDecimal) => x.Kind switch
    {
        ValueKind.Missing or ValueKind.Null or ValueKind.Long => x,
        ValueKind.Decimal => Value.Of(ofDecimal(x.AsDecimal())),
        _ => Value.Of(ofDouble(Conversions.Double(x))),
    };

    private static Value Double(Value x, Func<double, double> map) => x.IsNothing ? x : Value.Of(map(Conversions.Double(x)));

    private static Value Span(Run run, Value count, Func<double, TimeSpan> make)
    {
        try
        {
            return Done(run, count.IsNothing ? count : Value.Of(make(Conversions.Double(count))));
        }
        catch (Exception error) when (error is OverflowException or ArgumentException)
        {
            throw new ComputingException("a length of time is too long.");
        }
    }
}
