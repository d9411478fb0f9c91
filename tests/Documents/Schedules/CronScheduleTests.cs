using System.Globalization;
using Treepie.Schedules;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Schedules;

/// <summary>
/// When a schedule is due: against who looks at every minute, in zones whose clocks change, and what is no schedule.
/// </summary>
public sealed class CronScheduleTests
{
    [Fact]
    public void Next_is_the_first_minute_that_fits_as_one_finds_who_looks_at_every_minute()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 150; round++)
        {
            string[] fields =
                [Field(random, 0, 59), Field(random, 0, 23), Field(random, 1, 28), Field(random, 1, 12), Field(random, 0, 7)];
            var schedule = CronSchedule.Parse(string.Join(' ', fields));
            DateTimeOffset at = new DateTimeOffset(2024, 1, 1, 0, 0, 0, TimeSpan.Zero)
                .AddMinutes(random.Next(600_000))
                .AddSeconds(random.Next(60));
            DateTimeOffset end = at.AddDays(100);
            DateTimeOffset minute = at.AddSeconds(-at.Second).AddMinutes(1);
            while (minute < end && !IsDue(fields, minute))
                minute = minute.AddMinutes(1);
            DateTimeOffset? found = schedule.Next(at);
            if (minute < end)
                Assert.True(minute == found, $"{schedule} after {at:O}: {minute:O} fits, and {found:O} was given");
            else
                Assert.True(found >= end, $"{schedule} after {at:O}: nothing fits for a hundred days, and {found:O} was given");
        }
    }

    [Theory]
    [InlineData("0 2 * * *", "Europe/Paris", "2026-03-28T12:00Z", "2026-03-29T01:00Z")] // 02:00 is left out: due when clocks show 03:00
    [InlineData("30 2 * * *", "Europe/Paris", "2026-10-24T12:00Z", "2026-10-25T00:30Z")] // shown twice: the first
    [InlineData("30 2 * * *", "Europe/Paris", "2026-10-25T00:30Z", "2026-10-26T01:30Z")] // and not the second
    [InlineData("0 9 * * 1-5", "America/New_York", "2026-07-03T13:00Z", "2026-07-06T13:00Z")]
    [InlineData("0 0 29 2 *", null, "2026-01-01T00:00Z", "2028-02-29T00:00Z")]
    [InlineData("*/20 * * * *", null, "2026-01-01T00:40Z", "2026-01-01T01:00Z")]
    [InlineData("0 0 13 * fri", null, "2026-01-01T00:00Z", "2026-01-02T00:00Z")] // either day is enough
    [InlineData("0 0 1 jan,jul *", null, "2026-01-01T00:00Z", "2026-07-01T00:00Z")]
    [InlineData("0 0 * * 7", null, "2026-01-01T00:00Z", "2026-01-04T00:00Z")]
    public void Next_knows_calendars_and_clocks(string line, string? zone, string after, string expected)
    {
        var schedule = CronSchedule.Parse(line, zone is null ? null : TimeZoneInfo.FindSystemTimeZoneById(zone));
        Assert.Equal(Time(expected), schedule.Next(Time(after)));
    }

    [Theory]
    [InlineData("", "0 fields")]
    [InlineData("* * * *", "4 fields")]
    [InlineData("* * * * * *", "6 fields")]
    [InlineData("60 * * * *", "'60' is no minute")]
    [InlineData("* 24 * * *", "'24' is no hour")]
    [InlineData("* * 0 * *", "'0' is no day of the month")]
    [InlineData("* * * 13 *", "'13' is no month")]
    [InlineData("* * * * 8", "'8' is no day of the week")]
    [InlineData("*/0 * * * *", "'0' is no minute")]
    [InlineData("5-1 * * * *", "ends before it begins")]
    [InlineData("1,,2 * * * *", "'' is no minute")]
    [InlineData("1-2-3 * * * *", "'1-2-3' is no minute")]
    [InlineData("*/2/3 * * * *", "'*/2/3' is no minute")]
    [InlineData("x * * * *", "'x' is no minute")]
    [InlineData("* * * * monday", "a name (SUN to SAT)")]
    [InlineData("0 0 31 2 *", "never due")]
    public void What_is_no_schedule_is_refused_with_the_field_and_what_may_stand_there(string line, string expected)
    {
        FormatException error = Assert.Throws<FormatException>(() => CronSchedule.Parse(line));
        Assert.Contains(expected, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_end_of_the_calendar_is_no_error() =>
        Assert.Null(CronSchedule.Parse("0 0 1 1 *").Next(DateTimeOffset.MaxValue.AddHours(-1)));

    private static DateTimeOffset Time(string text) => DateTimeOffset.Parse(text, CultureInfo.InvariantCulture);

    private static string Field(Random random, int least, int most) => random.Next(6) switch
    {
        0 => random.Next(least, most + 1).ToString(CultureInfo.InvariantCulture),
        1 => $"*/{random.Next(1, most + 1)}",
        2 => $"{random.Next(least, most / 2 + 1)}-{random.Next(most / 2 + 1, most + 1)}",
        3 =>
            $"{random.Next(least, most / 2 + 1)}-{random.Next(most / 2 + 1, most + 1)}/{random.Next(1, 5)},"
                + $"{random.Next(least, most + 1)}",
        _ => "*",
    };

    /// <summary>Whether a minute fits, field by field, value by value.</summary>
    private static bool IsDue(string[] fields, DateTimeOffset time)
    {
        bool Fits(string field, int value, int most) => field.Split(',').Any(part =>
        {
            string[] step = part.Split('/');
            string[] ends = step[0] == "*" ? [] : step[0].Split('-');
            int from = ends.Length == 0 ? (most is 31 or 12 ? 1 : 0) : int.Parse(ends[0], CultureInfo.InvariantCulture);
            int to = ends.Length == 2
                ? int.Parse(ends[1], CultureInfo.InvariantCulture)
                : ends.Length == 1 && step.Length == 1 ? from : most;
            int every = step.Length == 2 ? int.Parse(step[1], CultureInfo.InvariantCulture) : 1;
            return value >= from && value <= to && (value - from) % every == 0;
        });

        int week = (int)time.DayOfWeek;
        bool ofMonth = Fits(fields[2], time.Day, 31),
            ofWeek = Fits(fields[4], week, fields[4].StartsWith('*') ? 6 : 7)
                || (week == 0 && !fields[4].StartsWith('*') && Fits(fields[4], 7, 7));
        bool day = fields[2][0] != '*' && fields[4][0] != '*' ? ofMonth || ofWeek : ofMonth && ofWeek;
        return Fits(fields[0], time.Minute, 59) && Fits(fields[1], time.Hour, 23) && Fits(fields[3], time.Month, 12) && day;
    }
}
