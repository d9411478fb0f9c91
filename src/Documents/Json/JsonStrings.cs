using System.Buffers;
using System.Globalization;
using System.Text;

namespace Treepie.Json;

/// <summary>JSON strings in UTF-8, without their quotes: escaping and unescaping with as little change as JSON allows.</summary>
internal static class JsonStrings
{
    private static readonly SearchValues<byte> MustBeEscaped = SearchValues.Create([.. Enumerable.Range(0, 0x20).Select(value => (byte)value), (byte)'"', (byte)'\\']);

    /// <summary>Writes a JSON string with its quotes.</summary>
    public static void Write(IBufferWriter<byte> output, ReadOnlySpan<byte> utf8)
    {
        output.Write("\""u8);
        WriteContent(output, utf8);
        output.Write("\""u8);
    }

    /// <summary>Unescapes the inside of a valid JSON string; the result is never longer. Returns its length.</summary>
    public static int Unescape(ReadOnlySpan<byte> escaped, Span<byte> destination)
    {
        int length = 0;
        while (true)
        {
            int plain = escaped.IndexOf((byte)'\\');
            if (plain < 0)
            {
                escaped.CopyTo(destination[length..]);
                return length + escaped.Length;
            }

            escaped[..plain].CopyTo(destination[length..]);
            length += plain;
            byte kind = escaped[plain + 1];
            if (kind == (byte)'u')
            {
                length += UnescapeCodePoint(escaped[plain..], destination[length..], out int consumed);
                escaped = escaped[(plain + consumed)..];
            }
            else
            {
                destination[length++] = Simple(kind);
                escaped = escaped[(plain + 2)..];
            }
        }
    }

    /// <summary>The UTF-16 unit of four hexadecimal digits, or -1.</summary>
    public static int HexUnit(ReadOnlySpan<byte> digits) =>
        digits.Length >= 4
        && char.IsAsciiHexDigit((char)digits[0]) && char.IsAsciiHexDigit((char)digits[1])
        && char.IsAsciiHexDigit((char)digits[2]) && char.IsAsciiHexDigit((char)digits[3])
            ? int.Parse(digits[..4], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture)
            : -1;

    private static void WriteContent(IBufferWriter<byte> output, ReadOnlySpan<byte> utf8)
    {
        while (true)
        {
            int plain = utf8.IndexOfAny(MustBeEscaped);
            if (plain < 0)
            {
                output.Write(utf8);
                return;
            }

            output.Write(utf8[..plain]);
            byte value = utf8[plain];
            if (value < 0x20)
            {
                ReadOnlySpan<byte> digits = "0123456789abcdef"u8;
                output.Write([(byte)'\\', (byte)'u', (byte)'0', (byte)'0', digits[value >> 4], digits[value & 15]]);
            }
            else
            {
                output.Write([(byte)'\\', value]);
            }

            utf8 = utf8[(plain + 1)..];
        }
    }

    private static int UnescapeCodePoint(ReadOnlySpan<byte> escape, Span<byte> destination, out int consumed)
    {
        int unit = HexUnit(escape[2..]);
        consumed = 6;
        if (!char.IsSurrogate((char)unit))
            return new Rune((char)unit).EncodeToUtf8(destination);

        consumed = 12; // the scan has seen to it that the other half follows
        return new Rune((char)unit, (char)HexUnit(escape[8..])).EncodeToUtf8(destination);
    }

    private static byte Simple(byte kind) => kind switch
    {
        (byte)'b' => (byte)'\b',
        (byte)'f' => (byte)'\f',
        (byte)'n' => (byte)'\n',
        (byte)'r' => (byte)'\r',
        (byte)'t' => (byte)'\t',
        _ => kind, // quote, backslash, slash
    };
}
