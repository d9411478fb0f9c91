using System.Collections.Frozen;
using System.Globalization;
using Treepie.Indexes.Fields;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// Kinds of fields that hold what a function makes of the texts at a path: their length, parts of a time as its text has them,
/// whatever its offset, and its moment.
/// </summary>
internal static class ComputedKinds
{
    private static readonly FrozenDictionary<string, AutoIndexFieldKind> _byName =
        Enum.GetValues<AutoIndexFieldKind>().Where(IsComputed).ToFrozenDictionary(
            static kind => kind.ToString(), StringComparer.OrdinalIgnoreCase);

    private static readonly FrozenDictionary<AutoIndexFieldKind, Func<string, ComputedText?>> _functions =
        new Dictionary<AutoIndexFieldKind, Func<string, ComputedText?>>
        {
            [AutoIndexFieldKind.Utc] = static text => ComputedText.Of(UtcTime.Of(text)),
            [AutoIndexFieldKind.Length] = static text => new ComputedText(text.Length),
            [AutoIndexFieldKind.Date] = static text =>
                ComputedText.Of(UtcTime.LocalOf(text)?.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture)),
            [AutoIndexFieldKind.Year] = Part(static time => time.Year),
            [AutoIndexFieldKind.Month] = Part(static time => time.Month),
            [AutoIndexFieldKind.Day] = Part(static time => time.Day),
            [AutoIndexFieldKind.DayOfYear] = Part(static time => time.DayOfYear),
            [AutoIndexFieldKind.DayOfWeek] = Part(static time => (int)time.DayOfWeek),
            [AutoIndexFieldKind.Hour] = Part(static time => time.Hour),
            [AutoIndexFieldKind.Minute] = Part(static time => time.Minute),
            [AutoIndexFieldKind.Second] = Part(static time => time.Second),
            [AutoIndexFieldKind.Millisecond] = Part(static time => time.Millisecond),
        }.ToFrozenDictionary();

    /// <summary>The names of all functions.</summary>
    public static IEnumerable<string> Names => Enum.GetValues<AutoIndexFieldKind>().Where(IsComputed).Select(NameOf);

    /// <summary>Whether a field holds values that are computed, not those of documents.</summary>
    public static bool IsComputed(AutoIndexFieldKind kind) => kind >= AutoIndexFieldKind.Utc;

    /// <summary>Whether a field holds numbers that are computed.</summary>
    public static bool IsNumber(AutoIndexFieldKind kind) =>
        IsComputed(kind) && kind is not (AutoIndexFieldKind.Utc or AutoIndexFieldKind.Date);

    /// <summary>Returns the kind of the values of a function; null if there is no function of that name.</summary>
    public static AutoIndexFieldKind? Find(string function) =>
        _byName.TryGetValue(function, out AutoIndexFieldKind kind) ? kind : null;

    /// <summary>Returns the name of the function.</summary>
    public static string NameOf(AutoIndexFieldKind kind)
    {
        string name = kind.ToString();
        return char.ToLowerInvariant(name[0]) + name[1..];
    }

    /// <summary>
    /// Returns the function of one text, which returns null for texts of which it makes nothing; null for
    /// <see cref="AutoIndexFieldKind.Count"/>, which is of arrays.
    /// </summary>
    public static Func<string, ComputedText?>? FunctionOf(AutoIndexFieldKind kind) => _functions.GetValueOrDefault(kind);

    private static Func<string, ComputedText?> Part(Func<DateTime, int> part) =>
        text => UtcTime.LocalOf(text) is { } time ? new ComputedText(part(time)) : null;
}

/// <summary>What a function makes of a text: a number, or another text.</summary>
/// <param name="Number">The number, if there is no text.</param>
/// <param name="Text">The text, or null.</param>
internal readonly record struct ComputedText(long Number, string? Text = null)
{
    /// <summary>Wraps a text; null stays null.</summary>
    public static ComputedText? Of(string? text) => text is null ? null : new ComputedText(0, text);
}
