using System.Globalization;

namespace Treepie.Computing.Values;

/// <summary>Times as texts of JSON.</summary>
internal static class TimeTexts
{
    /// <summary>
    /// Reads a time; without a zone it stays without one, and one of a zone becomes UTC, so that no answer depends on where the
    /// program runs.
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
