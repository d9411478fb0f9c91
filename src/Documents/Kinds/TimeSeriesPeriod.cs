using System.Globalization;

namespace Treepie.Kinds;

/// <summary>A period of either months or ticks. Groups of such a period are aligned to the calendar.</summary>
/// <param name="Months">The number of months; 0 if the period is in ticks.</param>
/// <param name="Ticks">The number of ticks of 100 ns; 0 if the period is in months.</param>
public readonly record struct TimeSeriesPeriod(int Months, long Ticks)
{
    private static readonly (string[] Names, int Months, long Ticks)[] _units =
    [
        (["ms", "millisecond", "milliseconds", "milli", "millis"], 0, TimeSpan.TicksPerMillisecond),
        (["s", "sec", "second", "seconds"], 0, TimeSpan.TicksPerSecond),
        (["m", "min", "minute", "minutes"], 0, TimeSpan.TicksPerMinute),
        (["h", "hour", "hours"], 0, TimeSpan.TicksPerHour),
        (["d", "day", "days"], 0, TimeSpan.TicksPerDay),
        (["w", "week", "weeks"], 0, 7 * TimeSpan.TicksPerDay),
        (["mon", "month", "months"], 1, 0),
        (["q", "quarter", "quarters"], 3, 0),
        (["y", "year", "years"], 12, 0),
    ];

    /// <summary>Parses a period such as <c>1 hour</c>, <c>7d</c> or <c>3 months</c>; returns null if it is not valid.</summary>
    internal static TimeSeriesPeriod? TryParse(string text)
    {
        ReadOnlySpan<char> rest = text.AsSpan().Trim();
        int digits = rest.IndexOfAnyExceptInRange('0', '9');
        if (digits <= 0
            || !int.TryParse(rest[..digits], NumberStyles.None, CultureInfo.InvariantCulture, out int count)
            || count == 0)
            return null;
        string name = rest[digits..].Trim().ToString();
        foreach ((string[] names, int months, long ticks) in _units)
        {
            if (!names.Contains(name, StringComparer.OrdinalIgnoreCase))
                continue;
            // limited to the range of DateTime
            return months > 0
                ? count <= 12 * 9_998 / months ? new TimeSeriesPeriod(count * months, 0) : null
                : count <= DateTime.MaxValue.Ticks / ticks ? new TimeSeriesPeriod(0, count * ticks) : null;
        }

        return null;
    }

    /// <summary>Returns a period of months.</summary>
    public static TimeSeriesPeriod OfMonths(int months) => new(months, 0);

    /// <summary>Returns a period of a fixed duration.</summary>
    public static TimeSeriesPeriod Of(TimeSpan time) => new(0, time.Ticks);

    /// <summary>
    /// Returns the time that lies this period before another, at the earliest the first of all. Months are those of the calendar:
    /// a month before 31 March is the last day of February.
    /// </summary>
    public DateTime Before(DateTime time) => new(Before(time.Ticks), time.Kind);

    /// <summary>
    /// Returns the start of the group that contains a time; fixed durations are counted from the year 1, a Monday.
    /// </summary>
    internal long Floor(long ticks)
    {
        if (Months == 0)
            return ticks - (ticks % Ticks);
        var time = new DateTime(ticks);
        int month = (time.Year * 12) + time.Month - 1 - 12;
        month -= month % Months;
        return new DateTime(1 + (month / 12), 1 + (month % 12), 1).Ticks;
    }

    /// <summary>Adds the period to a time.</summary>
    internal long After(long ticks)
    {
        if (Months == 0)
            return ticks > DateTime.MaxValue.Ticks - Ticks ? DateTime.MaxValue.Ticks : ticks + Ticks;
        var time = new DateTime(ticks);
        return (time.Year * 12) + time.Month - 1 + Months >= 10_000 * 12 ? DateTime.MaxValue.Ticks : time.AddMonths(Months).Ticks;
    }

    /// <summary>Subtracts the period from a time.</summary>
    internal long Before(long ticks)
    {
        if (Months == 0)
            return Math.Max(0, ticks - Ticks);
        var time = new DateTime(ticks);
        return (time.Year * 12) + time.Month - 1 - Months < 12 ? 0 : time.AddMonths(-Months).Ticks;
    }
}
