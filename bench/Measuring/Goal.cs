using System.Globalization;

namespace Treepie.Bench.Measuring;

/// <summary>What a row has to reach.</summary>
/// <param name="Ratio">Least ratio of ours to what it is compared with, where more is better.</param>
/// <param name="Against">Beginning of the peer's name; null: the best peer of the row.</param>
/// <param name="IsLimit">Compared with the physical limit instead.</param>
public sealed record Goal(double Ratio, string? Against = null, bool IsLimit = false)
{
    /// <summary>At most so many times the physical limit, where less is better.</summary>
    public static Goal AtMost(double timesLimit) => new(1 / timesLimit, IsLimit: true);

    /// <summary>The goal, whether it was reached, and by what: or nothing where there was nothing to compare with.</summary>
    public string Judge(BenchRow row, out bool isMissed)
    {
        double? other = IsLimit ? row.Limit : Peer(row);
        isMissed = false;
        if (other is not { } value)
            return "";

        double ratio = row.HigherIsBetter ? row.Ours / value : value / row.Ours;
        isMissed = ratio < Ratio;
        string against = IsLimit ? "limit" : Against ?? "best";
        string mark = isMissed ? "✗" : "✓";
        return IsLimit && !row.HigherIsBetter
            ? string.Create(CultureInfo.InvariantCulture, $"{mark} {1 / ratio:0.00} of ≤ {1 / Ratio:0.##}× {against}")
            : string.Create(CultureInfo.InvariantCulture, $"{mark} {ratio:0.00} of ≥ {Ratio:0.##}× {against}");
    }

    private double? Peer(BenchRow row)
    {
        double[] values = [
            .. row.Peers.Where(peer => Against is null || peer.Key.StartsWith(Against, StringComparison.Ordinal))
                .Select(peer => peer.Value)];
        return values.Length == 0 ? null : row.HigherIsBetter ? values.Max() : values.Min();
    }
}
