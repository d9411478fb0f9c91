using System.Globalization;

namespace Treepie.Server.Http;

/// <summary>The formats of times in the protocol.</summary>
internal static class WireTime
{
    /// <summary>The length of a formatted time.</summary>
    public const int Characters = 28;

    /// <summary>Formats a time as <c>2024-01-01T00:00:00.0000000Z</c>.</summary>
    public static string ToWire(DateTime utc) =>
        DateTime.SpecifyKind(utc, DateTimeKind.Utc).ToString("O", CultureInfo.InvariantCulture);

    /// <summary>Formats a time as <see cref="ToWire(DateTime)"/> does.</summary>
    public static void ToWire(DateTime utc, Span<byte> output) =>
        DateTime.SpecifyKind(utc, DateTimeKind.Utc).TryFormat(output, out _, "O", CultureInfo.InvariantCulture);

    public static bool TryParseTime(string text, out DateTime utc) =>
        DateTime.TryParse(
            text, CultureInfo.InvariantCulture, DateTimeStyles.AdjustToUniversal | DateTimeStyles.AssumeUniversal, out utc);

    /// <summary>Parses <c>[d.]hh:mm:ss[.fffffff]</c>, or a number of milliseconds.</summary>
    public static bool TryParseSpan(string text, out TimeSpan span)
    {
        if (double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double milliseconds))
            return TryFromMilliseconds(milliseconds, out span);

        return TimeSpan.TryParse(text, CultureInfo.InvariantCulture, out span) && span >= TimeSpan.Zero;
    }

    public static bool TryFromMilliseconds(double milliseconds, out TimeSpan span)
    {
        // Longer times are reduced to 24 days, which timers support.
        const double longestMs = int.MaxValue;
        bool valid = milliseconds >= 0;
        span = valid ? TimeSpan.FromMilliseconds(Math.Min(milliseconds, longestMs)) : default;
        return valid;
    }
}
