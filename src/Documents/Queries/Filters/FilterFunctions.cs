using System.Collections.Frozen;
using Treepie.Indexes.Fields;

namespace Treepie.Queries.Filters;

/// <summary>
/// Functions of one value that <c>filter</c> computes: the length of a text, and parts of a time as its text has them, whatever
/// its offset.
/// </summary>
internal static class FilterFunctions
{
    /// <summary>The function that counts elements.</summary>
    public const string Count = "count";

    private static readonly FrozenDictionary<string, Func<string, FilterValue?>> _functions =
        new Dictionary<string, Func<string, FilterValue?>>
        {
            ["length"] = static text => FilterValue.Of(text.Length),
            ["date"] = static text => UtcTime.LocalOf(text) is { } time
                ? FilterValue.Of(time.ToString("yyyy-MM-dd", System.Globalization.CultureInfo.InvariantCulture), isExact: true)
                : null,
            ["year"] = Part(static time => time.Year),
            ["month"] = Part(static time => time.Month),
            ["day"] = Part(static time => time.Day),
            ["dayOfYear"] = Part(static time => time.DayOfYear),
            ["dayOfWeek"] = Part(static time => (int)time.DayOfWeek),
            ["hour"] = Part(static time => time.Hour),
            ["minute"] = Part(static time => time.Minute),
            ["second"] = Part(static time => time.Second),
            ["millisecond"] = Part(static time => time.Millisecond),
        }.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase);

    /// <summary>The names of all functions.</summary>
    public static IEnumerable<string> Names => _functions.Keys.Append(Count);

    /// <summary>Returns whether <c>filter</c> computes a function.</summary>
    public static bool Knows(string name) =>
        _functions.ContainsKey(name) || name.Equals(Count, StringComparison.OrdinalIgnoreCase);

    /// <summary>Returns a function of one value; null if there is none of that name.</summary>
    public static Func<FilterValue, FilterValue>? Of(string name) =>
        _functions.TryGetValue(name, out Func<string, FilterValue?>? function) ? value => value.Map(function) : null;

    private static Func<string, FilterValue?> Part(Func<DateTime, int> part) =>
        text => UtcTime.LocalOf(text) is { } time ? FilterValue.Of(part(time)) : null;
}
