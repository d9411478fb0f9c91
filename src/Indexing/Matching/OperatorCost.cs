namespace Treepie.Indexing.Matching;

/// <summary>Estimated cost of an operator; see <see cref="CostModel"/>.</summary>
/// <param name="Window">Nanoseconds for a window of 4,096 entries.</param>
/// <param name="Probe">Nanoseconds for one entry.</param>
internal readonly record struct OperatorCost(double Window, double Probe);
