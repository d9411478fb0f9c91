using System.Globalization;
using System.Text;

namespace Treepie.Indexes.Fields;

/// <summary>
/// Times of documents as moments: <c>2024-03-01T01:00:00+02:00</c> and <c>2024-02-29T23:00:00Z</c> are the same text here, and
/// texts sort as the moments do. A time without an offset is in UTC.
/// </summary>
internal static class UtcTime
{
    /// <summary>The length of a moment: <c>2024-02-29T23:00:00.0000000</c>.</summary>
    public const int Length = 27;

    private const string Form = "yyyy-MM-dd'T'HH:mm:ss.fffffff";

    /// <summary>The forms of ISO 8601 in which clients store times, with up to seven digits of a second's fraction.</summary>
    private static readonly string[] _forms = ["yyyy-MM-dd'T'HH:mm:ss.FFFFFFFK", "yyyy-MM-dd'T'HH:mmK", "yyyy-MM-dd"];

    /// <summary>Returns the moment of a time, or null if the text is none.</summary>
    public static string? Of(string text) =>
        TryParse(text, out DateTimeOffset time) ? time.UtcDateTime.ToString(Form, CultureInfo.InvariantCulture) : null;

    /// <summary>Writes the moment of a time of a document, in UTF-8; returns whether the text is a time.</summary>
    public static bool TryWrite(ReadOnlySpan<byte> utf8, Span<byte> moment)
    {
        Span<char> text = stackalloc char[40]; // longer ones are no times
        return utf8.Length <= text.Length
            && Encoding.UTF8.TryGetChars(utf8, text, out int length)
            && TryParse(text[..length], out DateTimeOffset time)
            && time.UtcDateTime.TryFormat(moment, out _, Form, CultureInfo.InvariantCulture);
    }

    /// <summary>Returns a time, or a time of the day, as its text has it, without its offset; null if the text is none.</summary>
    public static DateTime? LocalOf(string text) =>
        TryParse(text, out DateTimeOffset time) ? time.DateTime
        : TimeOnly.TryParseExact(text, "HH:mm:ss.FFFFFFF", CultureInfo.InvariantCulture, DateTimeStyles.None, out TimeOnly ofDay)
            ? DateTime.MinValue.Add(ofDay.ToTimeSpan())
            : null;

    private static bool TryParse(ReadOnlySpan<char> text, out DateTimeOffset time) => DateTimeOffset.TryParseExact(
        text, _forms, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out time);
}
