namespace Treepie.Bench.Measuring;

/// <summary>One line of a result: ours, the peers of the same run, and the physical limit where there is one.</summary>
/// <param name="Row">What was done.</param>
/// <param name="Unit">Unit of every figure in the row.</param>
/// <param name="HigherIsBetter">Which way is better.</param>
/// <param name="Ours">Median of ours.</param>
public sealed record BenchRow(string Row, string Unit, bool HigherIsBetter, double Ours)
{
    /// <summary>Medians of the peers, by name.</summary>
    public IReadOnlyDictionary<string, double> Peers { get; init; } = new Dictionary<string, double>();

    /// <summary>What the machine itself can do; null where that was not measured.</summary>
    public double? Limit { get; init; }

    /// <summary>Half the distance between the greatest and the smallest round of ours, as a share of the median.</summary>
    public double? Spread { get; init; }

    /// <summary>What the row has to reach.</summary>
    public IReadOnlyList<Goal> Goals { get; init; } = [];

    /// <summary>Why a goal is missed; shown only where one is.</summary>
    public string? Reason { get; init; }

    /// <summary>Something to know about the figure: what it includes, why it falls short.</summary>
    public string? Note { get; init; }

    /// <summary>A row of several rounds: their median and spread.</summary>
    public static BenchRow Of(string row, string unit, bool higherIsBetter, IReadOnlyList<double> rounds) =>
        new(row, unit, higherIsBetter, Statistics.Median(rounds)) { Spread = Statistics.Spread(rounds) };
}
