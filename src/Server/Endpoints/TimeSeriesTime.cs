using System.Globalization;
using Treepie.Kinds;

namespace Treepie.Server.Endpoints;

/// <summary>Parses periods as sent by clients: a number and a unit.</summary>
internal static class TimeSeriesTime
{
    /// <summary>As many months as there are between the first and the last year.</summary>
    private const int MostMonths = 12 * 9_998;

    /// <summary>Parses a period. Months, quarters and years are those of the calendar.</summary>
    /// <exception cref="WireException">It is not valid.</exception>
    public static TimeSeriesPeriod Read(string? value, string? unit)
    {
        (int months, long ticks) = unit?.ToLowerInvariant() switch
        {
            "second" or "seconds" => (0, TimeSpan.TicksPerSecond),
            "minute" or "minutes" => (0, TimeSpan.TicksPerMinute),
            "hour" or "hours" => (0, TimeSpan.TicksPerHour),
            "day" or "days" => (0, TimeSpan.TicksPerDay),
            "month" or "months" => (1, 0L),
            "quarter" or "quarters" => (3, 0L),
            "year" or "years" => (12, 0L),
            _ => (0, 0L),
        };
        bool isNumber = int.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out int count);
        if (isNumber && months > 0 && count <= MostMonths / months)
            return TimeSeriesPeriod.OfMonths(count * months);
        if (isNumber && ticks > 0 && count <= TimeSpan.MaxValue.Ticks / ticks)
            return TimeSeriesPeriod.Of(TimeSpan.FromTicks(count * ticks));
        throw WireException.BadRequest(
            $"'{value} {unit}' is no length of time; expected is a whole number and Second, Minute, Hour, Day, Month, Quarter or "
                + $"Year.");
    }
}
