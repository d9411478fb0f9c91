using System.Globalization;
using System.Numerics;

namespace Treepie.Schedules;

/// <summary>
/// A cron schedule with five fields: minute, hour, day of the month, month and day of the week, in UTC or in a time zone.
/// Immutable.
/// </summary>
/// <remarks>
/// <para>A field is <c>*</c>, a number, a range <c>a-b</c>, any of these with a step <c>/n</c>, or a list separated by
/// commas. Months and days of the week may be given by their first three letters; 0 and 7 are Sunday. If both the day of the
/// month and the day of the week are restricted, one match is sufficient, as usual for cron.</para>
/// <para>At daylight saving changes of the time zone, a skipped time is due when clocks move forward, and a repeated time is due
/// only once, the first time.</para>
/// </remarks>
public sealed class CronSchedule
{
    /// <summary>
    /// The number of years searched for the next time: 29 February on a given day of the week recurs within 40 years, even across
    /// a century without one.
    /// </summary>
    private const int MaxYears = 50;

    private static readonly string[] _monthNames =
        ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
    private static readonly string[] _days = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

    private readonly ulong _minutes;
    private readonly ulong _hours;
    private readonly ulong _daysOfMonth;
    private readonly ulong _months;
    private readonly ulong _daysOfWeek;
    private readonly bool _eitherDay;
    private readonly string _text;

    private CronSchedule(string text, string[] fields, TimeZoneInfo zone)
    {
        _text = text;
        TimeZone = zone;
        _minutes = Field(text, fields[0], "minute", 0, 59, []);
        _hours = Field(text, fields[1], "hour", 0, 23, []);
        _daysOfMonth = Field(text, fields[2], "day of the month", 1, 31, []);
        _months = Field(text, fields[3], "month", 1, 12, _monthNames);
        ulong days = Field(text, fields[4], "day of the week", 0, 7, _days);
        _daysOfWeek = (days | (days >> 7)) & 0x7F;
        _eitherDay = fields[2][0] != '*' && fields[4][0] != '*';
    }

    /// <summary>The time zone of the schedule.</summary>
    public TimeZoneInfo TimeZone { get; }

    /// <summary>Parses a schedule of five fields.</summary>
    /// <param name="text">The schedule.</param>
    /// <param name="timeZone">The time zone. Null: UTC.</param>
    /// <exception cref="FormatException">A field is not valid, or the schedule never matches; the message names the field and
    /// what is allowed.</exception>
    public static CronSchedule Parse(string text, TimeZoneInfo? timeZone = null)
    {
        ArgumentNullException.ThrowIfNull(text);
        string[] fields = text.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
        if (fields.Length != 5)
        {
            throw new FormatException(
                $"'{text}' is no schedule: it has {fields.Length} fields, and five are wanted: minute, hour, day of the month, "
                    + $"month, day of the week. '0 2 * * *' is every day at two o'clock, '0 */6 * * *' every six hours.");
        }

        var schedule = new CronSchedule(text, fields, timeZone ?? TimeZoneInfo.Utc);
        return schedule.Next(DateTimeOffset.UnixEpoch) is not null
            ? schedule
            : throw new FormatException($"'{text}' is never due: no month it names has such a day.");
    }

    /// <summary>
    /// Returns the first time (UTC, a full minute) after a point in time at which the schedule is due; null if there is none.
    /// </summary>
    public DateTimeOffset? Next(DateTimeOffset after)
    {
        DateTime local = TimeZoneInfo.ConvertTimeFromUtc(after.UtcDateTime, TimeZone);
        // A repeated hour: times in it were due the first time, so the search starts before it and skips what is not later.
        DateTime? candidate = new DateTime(local.Year, local.Month, local.Day, local.Hour, local.Minute, 0);
        candidate = Math.Abs((TimeZone.GetUtcOffset(after) - TimeZone.BaseUtcOffset).Ticks) > 0
            || TimeZone.SupportsDaylightSavingTime ? Earlier(candidate.Value, TimeSpan.FromHours(3)) : candidate;
        int last = local.Year + MaxYears;
        while (candidate is { } from && NextLocal(from, last) is { } due)
        {
            DateTimeOffset utc = ToUtc(due);
            if (utc > after)
                return utc;
            candidate = due < DateTime.MaxValue.AddMinutes(-1) ? due.AddMinutes(1) : null;
        }

        return null;
    }

    /// <summary>Returns the schedule as written, with its time zone.</summary>
    public override string ToString() => TimeZone.Equals(TimeZoneInfo.Utc) ? $"{_text} (UTC)" : $"{_text} ({TimeZone.Id})";

    private static DateTime Earlier(DateTime time, TimeSpan by) => time.Ticks > by.Ticks ? time - by : DateTime.MinValue;

    private static bool Has(ulong set, int value) => (set >> value & 1) != 0;

    /// <summary>Returns the smallest member that is at least <paramref name="from"/>; -1 if there is none.</summary>
    private static int AtLeast(ulong set, int from)
    {
        ulong rest = from > 63 ? 0 : set >> from << from;
        return rest == 0 ? -1 : BitOperations.TrailingZeroCount(rest);
    }

    private bool IsDay(DateTime date)
    {
        if (!Has(_months, date.Month))
            return false;
        bool ofMonth = Has(_daysOfMonth, date.Day), ofWeek = Has(_daysOfWeek, (int)date.DayOfWeek);
        return _eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
    }

    /// <summary>Returns the first local time that is due, from the specified one on.</summary>
    private DateTime? NextLocal(DateTime from, int lastYear)
    {
        for (DateTime day = from.Date; day.Year <= lastYear; day = day.AddDays(1))
        {
            if (IsDay(day))
            {
                int hour = AtLeast(_hours, day == from.Date ? from.Hour : 0);
                if (day == from.Date && hour == from.Hour && AtLeast(_minutes, from.Minute) is >= 0 and var later)
                    return day.AddHours(hour).AddMinutes(later);
                if (day == from.Date && hour == from.Hour)
                    hour = AtLeast(_hours, from.Hour + 1);
                if (hour >= 0)
                    return day.AddHours(hour).AddMinutes(AtLeast(_minutes, 0));
            }

            if (day >= DateTime.MaxValue.Date)
                return null;
        }

        return null;
    }

    private DateTimeOffset ToUtc(DateTime local)
    {
        if (TimeZone.IsInvalidTime(local))
        {
            // Clocks skip it: due at the first valid time after it.
            DateTime valid = local;
            do
                valid = valid.AddMinutes(1);
            while (TimeZone.IsInvalidTime(valid));
            return new DateTimeOffset(TimeZoneInfo.ConvertTimeToUtc(valid, TimeZone), TimeSpan.Zero);
        }

        TimeSpan offset = TimeZone.IsAmbiguousTime(local)
            ? TimeZone.GetAmbiguousTimeOffsets(local).Max()
            : TimeZone.GetUtcOffset(local);
        long ticks = Math.Clamp(local.Ticks - offset.Ticks, 0, DateTime.MaxValue.Ticks);
        return new DateTimeOffset(ticks, TimeSpan.Zero);
    }

    private static ulong Field(string line, string field, string what, int least, int most, string[] names)
    {
        ulong set = 0;
        foreach (string part in field.Split(','))
        {
            string[] step = part.Split('/');
            int every = step.Length == 1
                ? 1
                : step.Length == 2 ? Number(line, step[1], what, 1, most, []) : throw Wrong(line, part, what, least, most, names);
            (int from, int to) = Range(line, step[0], what, least, most, names, hasStep: step.Length == 2);
            for (int value = from; value <= to; value += every)
                set |= 1ul << value;
        }

        return set;
    }

    private static (int From, int To) Range(
        string line, string text, string what, int least, int most, string[] names, bool hasStep)
    {
        // Sunday may be written as 7; a wildcard for all days counts it once.
        if (text == "*")
            return (least, what == "day of the week" ? 6 : most);

        string[] ends = text.Split('-');
        if (ends.Length > 2)
            throw Wrong(line, text, what, least, most, names);
        int from = Number(line, ends[0], what, least, most, names);
        int to = ends.Length == 2 ? Number(line, ends[1], what, least, most, names) : hasStep ? most : from;
        return from <= to
            ? (from, to)
            : throw new FormatException(
                $"'{line}' is no schedule: the {what} '{text}' ends before it begins. Write two ranges with a comma between "
                    + $"them.");
    }

    private static int Number(string line, string text, string what, int least, int most, string[] names)
    {
        int named = Array.FindIndex(names, name => name.Equals(text, StringComparison.OrdinalIgnoreCase));
        if (named >= 0)
            return least == 0 ? named : named + 1;
        return int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int number)
            && number >= least
            && number <= most
            ? number
            : throw Wrong(line, text, what, least, most, names);
    }

    private static FormatException Wrong(string line, string part, string what, int least, int most, string[] names) => new(
        $"'{line}' is no schedule: '{part}' is no {what}, which is a number from {least} to "
            + $"{most}{(names.Length > 0 ? $" or a name ({names[0]} to {names[^1]})" : "")}, '*', a range a-b, one of these with "
            + $"a step /n, or several with commas between them.");
}
