using System.Globalization;

namespace Treepie.Server.Endpoints;

/// <summary>Parses periods as sent by clients: a number and a unit.</summary>
internal static class TimeSeriesTime
{
    private const double DaysOfMonth = 365.25 / 12;

    /// <summary>Parses a period.</summary>
    /// <exception cref="WireException">It is not valid.</exception>
    public static TimeSpan Read(string? value, string? unit)
    {
        double days = unit?.ToLowerInvariant() switch
        {
            "second" or "seconds" => 1.0 / 86_400,
            "minute" or "minutes" => 1.0 / 1_440,
            "hour" or "hours" => 1.0 / 24,
            "day" or "days" => 1,
            "month" or "months" => DaysOfMonth,
            "quarter" or "quarters" => 3 * DaysOfMonth,
            "year" or "years" => 12 * DaysOfMonth,
            _ => double.NaN,
        };
        return int.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out int count)
            && days * count < TimeSpan.MaxValue.TotalDays
                ? TimeSpan.FromDays(days * count)
                : throw WireException.BadRequest(
                    $"'{value} {unit}' is no length of time; expected is a whole number and Second, Minute, Hour, Day, Month, "
                        + $"Quarter or Year.");
    }
}
