using Treepie.Kinds;

namespace Treepie.Bench.Suites.Kinds;

/// <summary>A time series that is made: values are thousandths, so that both engines are given the same numbers.</summary>
internal sealed record MadeSeries(string Name, long[] Seconds, long[] Thousandths)
{
    /// <summary>When all of them begin.</summary>
    public static readonly DateTime Start = new(2024, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    public int Count => Seconds.Length;

    /// <summary>
    /// A sensor that says every minute what it measures to a tenth; a random walk; bursts every second with pauses.
    /// </summary>
    public static IReadOnlyList<MadeSeries> All(int count)
    {
        var random = new Random(22);
        long[] minutes = [.. Enumerable.Range(0, count).Select(static i => i * 60L)];
        long[] sensor = [
            .. Enumerable.Range(0, count).Select(
                i => 100 * (long)Math.Round(200 + (50 * Math.Sin(i / 229.0)) + random.NextDouble()))];
        long[] walk = new long[count], bursts = new long[count], seconds = new long[count];
        for (int i = 1; i < count; i++)
        {
            walk[i] = walk[i - 1] + random.Next(-5_000, 5_001);
            seconds[i] = seconds[i - 1] + (random.Next(300) == 0 ? random.Next(40_000) : 1);
            bursts[i] = random.Next(4) == 0 ? random.Next(1_000_000) : bursts[i - 1];
        }

        return [new("sensor", minutes, sensor), new("random walk", minutes, walk), new("bursts", seconds, bursts)];
    }

    /// <summary>Entries of a stretch.</summary>
    public TimeSeriesPoint[] Points(int from, int count) =>
        [.. Enumerable.Range(from, count)
            .Select(i => new TimeSeriesPoint(Start.AddSeconds(Seconds[i]), [Thousandths[i] / 1000.0]))];
}
