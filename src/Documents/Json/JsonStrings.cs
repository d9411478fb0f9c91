using System.Buffers;
using System.Globalization;
using System.Text;

namespace Treepie.Json;

/// <summary>Escapes and unescapes JSON strings in UTF-8. Escapes only what JSON requires.</summary>
internal static class JsonStrings
{
    /// <summary>The length of an escape: a backslash, <c>u</c>, four digits.</summary>
    private const int EscapeBytes = 6;

    private static readonly SearchValues<byte> _mustBeEscaped = SearchValues.Create(
        [.. Enumerable.Range(0, 0x20).Select(value => (byte)value), (byte)'"', (byte)'\\']);

    /// <summary>Writes a short JSON string, such as an id or a name, with its quotes.</summary>
    public static void Write(IBufferWriter<byte> output, ReadOnlySpan<byte> utf8) =>
        output.Advance(Write(output.GetSpan(MostBytes(utf8)), utf8));

    /// <summary>Returns a short text as a JSON string, with its quotes.</summary>
    public static byte[] Of(string text)
    {
        var output = new ArrayBufferWriter<byte>();
        Write(output, Encoding.UTF8.GetBytes(text));
        return output.WrittenSpan.ToArray();
    }

    /// <summary>The maximum length of a JSON string with its quotes: each byte may become six.</summary>
    public static int MostBytes(ReadOnlySpan<byte> utf8) => (EscapeBytes * utf8.Length) + 2;

    /// <summary>
    /// Writes a JSON string with its quotes to a buffer of at least <see cref="MostBytes"/> bytes. Returns its length.
    /// </summary>
    public static int Write(Span<byte> room, ReadOnlySpan<byte> utf8)
    {
        room[0] = (byte)'"';
        int at = 1;
        for (int plain; (plain = utf8.IndexOfAny(_mustBeEscaped)) >= 0; utf8 = utf8[(plain + 1)..])
        {
            utf8[..plain].CopyTo(room[at..]);
            at += plain;
            at += Escape(utf8[plain], room[at..]);
        }

        utf8.CopyTo(room[at..]);
        at += utf8.Length;
        room[at] = (byte)'"';
        return at + 1;
    }

    /// <summary>Unescapes the content of a valid JSON string; the result is never longer. Returns its length.</summary>
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

    /// <summary>Returns the UTF-16 code unit of four hexadecimal digits, or -1.</summary>
    public static int HexUnit(ReadOnlySpan<byte> digits) =>
        digits.Length >= 4
        && char.IsAsciiHexDigit((char)digits[0]) && char.IsAsciiHexDigit((char)digits[1])
        && char.IsAsciiHexDigit((char)digits[2]) && char.IsAsciiHexDigit((char)digits[3])
            ? int.Parse(digits[..4], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture)
            : -1;

    private static int Escape(byte value, Span<byte> room)
    {
        room[0] = (byte)'\\';
        if (value >= 0x20)
        {
            room[1] = value;
            return 2;
        }

        ReadOnlySpan<byte> digits = "0123456789abcdef"u8;
        "u00"u8.CopyTo(room[1..]);
        room[4] = digits[value >> 4];
        room[5] = digits[value & 15];
        return EscapeBytes;
    }

    private static int UnescapeCodePoint(ReadOnlySpan<byte> escape, Span<byte> destination, out int consumed)
    {
        int unit = HexUnit(escape[2..]);
        consumed = 6;
        if (!char.IsSurrogate((char)unit))
            return new Rune((char)unit).EncodeToUtf8(destination);

        consumed = 12; // the scan checked that the low surrogate follows
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
