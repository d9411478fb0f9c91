namespace Treepie.Bench.Measuring;

/// <summary>The few figures a series of measurements is told by.</summary>
internal static class Statistics
{
    /// <summary>The value at a share (0 to 1) of the sorted values, nearest rank.</summary>
    public static double Percentile(IEnumerable<double> values, double share)
    {
        double[] sorted = [.. values.Order()];
        return sorted[Math.Clamp((int)Math.Ceiling(share * sorted.Length) - 1, 0, sorted.Length - 1)];
    }

    /// <summary>The middle value.</summary>
    public static double Median(IEnumerable<double> values) => Percentile(values, 0.5);

    /// <summary>Half the distance between extremes, as a share of the median.</summary>
    public static double Spread(IReadOnlyList<double> values) =>
        values.Count < 2 ? 0 : (values.Max() - values.Min()) / 2 / Median(values);
}
