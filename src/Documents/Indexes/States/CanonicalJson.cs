using System.Buffers;
using System.Buffers.Text;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Treepie.Json;

namespace Treepie.Indexes.States;

/// <summary>
/// A canonical form of JSON values, so that equal values have equal bytes: no white space, strings without unnecessary
/// escapes, and numbers by value: <c>1</c>, <c>1.0</c> and <c>10e-1</c> are the same. The members of an object keep their
/// order.
/// </summary>
internal static class CanonicalJson
{
    /// <summary>The maximum depth of JSON that is read; the limit for documents is far lower.</summary>
    public const int MaxDepth = 1024;

    /// <summary>The maximum number of digits, including zeros, of numbers written without an exponent.</summary>
    private const int MostPlainDigits = 40;

    private static readonly SearchValues<byte> _startsOfNumbers = SearchValues.Create("-0123456789"u8);

    private static readonly SearchValues<byte> _signsOfNumbers = SearchValues.Create("-+.eE0123456789"u8);

    /// <summary>The maximum exponent; greater ones are treated as equal to it.</summary>
    private const int MostExponent = 1_000_000_000;

    /// <summary>
    /// Whether minified JSON surely has the canonical form already. Most rows of queries do, and parsing them takes much longer.
    /// </summary>
    public static bool IsWritten(ReadOnlySpan<byte> json)
    {
        if (json.Contains((byte)'\\'))
            return false;
        while (true)
        {
            int quote = json.IndexOf((byte)'"');
            if (!HasPlainNumbers(quote < 0 ? json : json[..quote]))
                return false;
            if (quote < 0)
                return true;
            json = json[(quote + 1)..];
            json = json[(json.IndexOf((byte)'"') + 1)..];
        }
    }

    private static bool HasPlainNumbers(ReadOnlySpan<byte> outsideOfStrings)
    {
        while (outsideOfStrings.IndexOfAny(_startsOfNumbers) is >= 0 and int start)
        {
            outsideOfStrings = outsideOfStrings[start..];
            int length = outsideOfStrings.IndexOfAnyExcept(_signsOfNumbers);
            ReadOnlySpan<byte> number = length < 0 ? outsideOfStrings : outsideOfStrings[..length];
            bool isPlain = number.Length <= MostPlainDigits
                && number.IndexOfAny((byte)'e', (byte)'E') < 0
                && !number.SequenceEqual("-0"u8)
                && !(number.Contains((byte)'.') && number[^1] == (byte)'0');
            if (!isPlain)
                return false;
            outsideOfStrings = outsideOfStrings[number.Length..];
        }

        return true;
    }

    /// <summary>Writes a value.</summary>
    public static void Write(JsonElement value, IBufferWriter<byte> output)
    {
        switch (value.ValueKind)
        {
            case JsonValueKind.String:
                WriteString(value.GetString()!, output); // it is a string
                break;
            case JsonValueKind.Number:
                WriteNumber(JsonMarshal.GetRawUtf8Value(value), output);
                break;
            case JsonValueKind.True:
                output.Write("true"u8);
                break;
            case JsonValueKind.False:
                output.Write("false"u8);
                break;
            case JsonValueKind.Object:
                WriteObject(value, output);
                break;
            case JsonValueKind.Array:
                WriteArray(value, output);
                break;
            default:
                output.Write("null"u8);
                break;
        }
    }

    /// <summary>Writes a value given as JSON.</summary>
    public static void Write(ReadOnlySpan<byte> json, IBufferWriter<byte> output)
    {
        switch (json[0])
        {
            case (byte)'"' when !json.Contains((byte)'\\'):
                JsonStrings.Write(output, json[1..^1]);
                break;
            case (byte)'-' or (>= (byte)'0' and <= (byte)'9'):
                WriteNumber(json, output);
                break;
            case (byte)'t' or (byte)'f' or (byte)'n':
                output.Write(json);
                break;
            default:
                var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = MaxDepth });
                Write(JsonElement.ParseValue(ref reader), output);
                break;
        }
    }

    /// <summary>Writes a string.</summary>
    public static void WriteString(string text, IBufferWriter<byte> output) =>
        JsonStrings.Write(output, Encoding.UTF8.GetBytes(text));

    /// <summary>Writes a number given in any JSON form.</summary>
    public static void WriteNumber(ReadOnlySpan<byte> number, IBufferWriter<byte> output)
    {
        byte[] digits = ArrayPool<byte>.Shared.Rent(number.Length);
        TryParseNumber(number, digits, out int length, out bool isNegative, out int exponent); // there is room for all digits
        WriteNumber(isNegative, digits.AsSpan(0, length), exponent, output);
        ArrayPool<byte>.Shared.Return(digits);
    }

    /// <summary>Writes digits times a power of ten.</summary>
    public static void WriteNumber(bool isNegative, ReadOnlySpan<byte> digits, int exponent, IBufferWriter<byte> output)
    {
        digits = digits.TrimStart((byte)'0');
        int zeros = digits.Length - digits.TrimEnd((byte)'0').Length;
        digits = digits[..^zeros];
        exponent += zeros;
        if (digits.IsEmpty)
        {
            output.Write("0"u8);
            return;
        }

        if (isNegative)
            output.Write("-"u8);
        int point = digits.Length + exponent; // the number of digits before the decimal point
        if (exponent >= 0 && point <= MostPlainDigits)
        {
            output.Write(digits);
            WriteZeros(exponent, output);
        }
        else if (exponent < 0 && point > 0)
        {
            output.Write(digits[..point]);
            output.Write("."u8);
            output.Write(digits[point..]);
        }
        else if (exponent < 0 && digits.Length - point <= MostPlainDigits)
        {
            output.Write("0."u8);
            WriteZeros(-point, output);
            output.Write(digits);
        }
        else
        {
            output.Write(digits[..1]);
            if (digits.Length > 1)
                output.Write("."u8);
            output.Write(digits[1..]);
            output.Write("e"u8);
            Utf8Formatter.TryFormat(point - 1, output.GetSpan(16), out int written);
            output.Advance(written);
        }
    }

    /// <summary>Compares two JSON numbers by value, exactly.</summary>
    public static int CompareNumbers(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second)
    {
        byte[] digits = ArrayPool<byte>.Shared.Rent(first.Length + second.Length);
        try
        {
            Span<byte> room = digits.AsSpan(first.Length);
            TryParseNumber(first, digits.AsSpan(0, first.Length), out int length, out bool isNegative, out int exponent);
            TryParseNumber(second, room, out int otherLength, out bool isOtherNegative, out int otherExponent);
            int sign = length == 0 ? 0 : isNegative ? -1 : 1, otherSign = otherLength == 0 ? 0 : isOtherNegative ? -1 : 1;
            if (sign != otherSign || sign == 0)
                return sign.CompareTo(otherSign);

            // digits have no leading zeros, so the greater number has its point further behind them
            int order = ((long)length + exponent).CompareTo((long)otherLength + otherExponent);
            if (order == 0)
                order = digits.AsSpan(0, length).TrimEnd((byte)'0').SequenceCompareTo(room[..otherLength].TrimEnd((byte)'0'));
            return sign * order;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(digits);
        }
    }

    /// <summary>
    /// Parses a JSON number into its digits, without a point and leading zeros, and the power of ten of the last one.
    /// Returns false if there is not enough room for its digits.
    /// </summary>
    public static bool TryParseNumber(
        ReadOnlySpan<byte> number, Span<byte> digits, out int length, out bool isNegative, out int exponent)
    {
        length = exponent = 0;
        isNegative = number[0] == (byte)'-';
        bool isBehindPoint = false;
        for (int i = isNegative ? 1 : 0; i < number.Length; i++)
        {
            byte c = number[i];
            if (c == (byte)'.')
            {
                isBehindPoint = true;
            }
            else if (c is (byte)'e' or (byte)'E')
            {
                exponent += ParseExponent(number[(i + 1)..]);
                break;
            }
            else
            {
                exponent -= isBehindPoint ? 1 : 0;
                if (length == 0 && c == (byte)'0')
                    continue;
                if (length == digits.Length)
                    return false;
                digits[length++] = c;
            }
        }

        if (length == 0)
            exponent = 0;
        return true;
    }

    private static int ParseExponent(ReadOnlySpan<byte> text)
    {
        bool isNegative = text[0] == (byte)'-';
        int value = 0;
        foreach (byte c in text.TrimStart("+-"u8))
            value = Math.Min(MostExponent, (int)Math.Min(MostExponent, (value * 10L) + c - '0'));
        return isNegative ? -value : value;
    }

    private static void WriteZeros(int count, IBufferWriter<byte> output)
    {
        output.GetSpan(Math.Max(1, count))[..count].Fill((byte)'0');
        output.Advance(count);
    }

    private static void WriteObject(JsonElement value, IBufferWriter<byte> output)
    {
        output.Write("{"u8);
        bool isFirst = true;
        foreach (JsonProperty member in value.EnumerateObject())
        {
            if (!isFirst)
                output.Write(","u8);
            isFirst = false;
            WriteString(member.Name, output);
            output.Write(":"u8);
            Write(member.Value, output);
        }

        output.Write("}"u8);
    }

    private static void WriteArray(JsonElement value, IBufferWriter<byte> output)
    {
        output.Write("["u8);
        bool isFirst = true;
        foreach (JsonElement element in value.EnumerateArray())
        {
            if (!isFirst)
                output.Write(","u8);
            isFirst = false;
            Write(element, output);
        }

        output.Write("]"u8);
    }
}
