using System.Globalization;

namespace Treepie.Computing.JavaScript;

/// <summary>Formats dates of scripts.</summary>
internal static class ScriptDates
{
    /// <summary>Returns the format used in documents: seven fractional digits, and <c>Z</c>.</summary>
    public static string Format(DateTime time) =>
        time.ToUniversalTime().ToString("yyyy'-'MM'-'dd'T'HH':'mm':'ss'.'fffffff'Z'", CultureInfo.InvariantCulture);
}
