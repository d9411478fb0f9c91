using System.Buffers;

namespace Treepie.Json;

/// <summary>The end of a token, or the position of an error and its description.</summary>
/// <param name="Position">The position after the token, or of the error.</param>
/// <param name="Error">What is wrong; null if the token is valid.</param>
internal readonly record struct TokenEnd(int Position, string? Error = null);

/// <summary>The multi-byte tokens of JSON, strictly as its grammar defines them.</summary>
internal static class JsonTokens
{
    private static readonly SearchValues<byte> _stringStops =
        SearchValues.Create([.. Enumerable.Range(0, 0x20).Select(value => (byte)value), (byte)'"', (byte)'\\']);

    /// <summary>Finds the end of the string that begins with the quote at a position.</summary>
    public static TokenEnd String(ReadOnlySpan<byte> json, int start, out bool hasEscapes)
    {
        hasEscapes = false;
        int position = start + 1;
        while (true)
        {
            int stop = json[position..].IndexOfAny(_stringStops);
            if (stop < 0)
                return new TokenEnd(start, "the string that begins here has no closing quote.");
            position += stop;
            byte found = json[position];
            if (found == (byte)'"')
                return new TokenEnd(position + 1);
            if (found != (byte)'\\')
                return new TokenEnd(
                    position, $"a string holds the control character 0x{found:X2}; write it as an escape like \\u{found:x4}.");

            hasEscapes = true;
            TokenEnd escape = Escape(json, position);
            if (escape.Error is not null)
                return escape;
            position = escape.Position;
        }
    }

    /// <summary>Finds the end of a literal that is expected at a position.</summary>
    public static TokenEnd Literal(ReadOnlySpan<byte> json, int start, ReadOnlySpan<byte> literal) =>
        json[start..].StartsWith(literal)
            ? new TokenEnd(start + literal.Length)
            : new TokenEnd(
                start,
                $"a value is expected, found {JsonErrors.Describe(json, start)}; true, false and null are the only words.");

    /// <summary>Finds the end of the number that begins with the digit or minus at a position.</summary>
    public static TokenEnd Number(ReadOnlySpan<byte> json, int start)
    {
        int position = json[start] == (byte)'-' ? start + 1 : start;
        int whole = Digits(json, position);
        if (whole == 0 || (whole > 1 && json[position] == (byte)'0'))
            return new TokenEnd(start, "a number has digits, and no zero before them.");

        position += whole;
        if (At(json, position) == (byte)'.')
        {
            int fraction = Digits(json, position + 1);
            if (fraction == 0)
                return new TokenEnd(start, "a decimal point is followed by digits.");
            position += 1 + fraction;
        }

        if (At(json, position) is (byte)'e' or (byte)'E')
        {
            position += At(json, position + 1) is (byte)'+' or (byte)'-' ? 2 : 1;
            int exponent = Digits(json, position);
            if (exponent == 0)
                return new TokenEnd(start, "an exponent has digits.");
            position += exponent;
        }

        return new TokenEnd(position);
    }

    private static TokenEnd Escape(ReadOnlySpan<byte> json, int position)
    {
        byte kind = At(json, position + 1);
        if (kind is (byte)'"' or (byte)'\\' or (byte)'/' or (byte)'b' or (byte)'f' or (byte)'n' or (byte)'r' or (byte)'t')
            return new TokenEnd(position + 2);

        int unit = kind == (byte)'u' ? JsonStrings.HexUnit(json[(position + 2)..]) : -1;
        if (unit < 0)
            return new TokenEnd(
                position, "a backslash must be followed by one of \" \\ / b f n r t, or by u and four hexadecimal digits.");
        if (!char.IsSurrogate((char)unit))
            return new TokenEnd(position + 6);

        ReadOnlySpan<byte> rest = json[(position + 6)..];
        bool isPair = char.IsHighSurrogate((char)unit)
            && rest.StartsWith("\\u"u8)
            && JsonStrings.HexUnit(rest[2..]) is >= 0xDC00 and <= 0xDFFF;
        return isPair
            ? new TokenEnd(position + 12)
            : new TokenEnd(
                position,
                $"the escape \\u{unit:x4} is half of a surrogate pair, which is no character. Write both halves, or the "
                    + $"character itself in UTF-8.");
    }

    private static int Digits(ReadOnlySpan<byte> json, int start)
    {
        int position = start;
        while (At(json, position) is >= (byte)'0' and <= (byte)'9')
            position++;
        return position - start;
    }

    private static byte At(ReadOnlySpan<byte> json, int position) =>
        (uint)position < (uint)json.Length ? json[position] : (byte)0;
}
