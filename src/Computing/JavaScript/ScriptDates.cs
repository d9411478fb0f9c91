using System.Globalization;

namespace Treepie.Computing.JavaScript;

/// <summary>Dates of scripts as texts.</summary>
internal static class ScriptDates
{
    /// <summary>As documents have them: seven digits of a second, and <c>Z</c>.</summary>
    public static string Format(DateTime time) =>
        time.ToUniversalTime().ToString("yyyy'-'MM'-'dd'T'HH':'mm':'ss'.'fffffff'Z'", CultureInfo.InvariantCulture);
}
