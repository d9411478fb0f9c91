using System.Globalization;

namespace Treepie.Computing.Values;

/// <summary>Reads and writes times as JSON strings.</summary>
internal static class TimeTexts
{
    /// <summary>
    /// Parses a time. Without a zone it stays without one, and with a zone it is converted to UTC, so that results do not
    /// depend on the time zone of the machine.
    /// </summary>
    public static bool TryParse(string text, out DateTime time)
    {
        time = default;
        return text.Length is >= 8 and <= 40
            && DateTime.TryParse(
                text, CultureInfo.InvariantCulture, DateTimeStyles.AdjustToUniversal | DateTimeStyles.NoCurrentDateDefault,
                out time);
    }

    public static string Write(DateTime time) =>
        time.ToString("yyyy-MM-ddTHH:mm:ss.fffffff", CultureInfo.InvariantCulture) + (time.Kind == DateTimeKind.Utc ? "Z" : "");

    public static string Write(TimeSpan span) => span.ToString("c", CultureInfo.InvariantCulture);
}
