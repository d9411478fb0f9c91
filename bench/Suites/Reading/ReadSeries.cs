using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Reading;

/// <summary>Rounds of latencies of ours, a peer and the limit.</summary>
internal sealed class ReadSeries
{
    private readonly List<double[]> _ours = [], _peer = [], _limit = [];

    public void Add(double[] round) => _ours.Add(round);

    public void AddPeer(double[] round) => _peer.Add(round);

    public void AddLimit(double[] round) => _limit.Add(round);

    /// <summary>The row of a share of all calls.</summary>
    public BenchRow Row(string title, double share, string peerName, params Goal[] goals)
    {
        double[] Each(List<double[]> rounds) => [.. rounds.Select(round => Statistics.Percentile(round, share))];
        return BenchRow.Of($"{title}, p{share * 100:0}", "µs", false, Each(_ours)) with
        {
            Peers = _peer.Count == 0
                ? new Dictionary<string, double>()
                : new Dictionary<string, double> { [peerName] = Statistics.Median(Each(_peer)) },
            Limit = _limit.Count == 0 ? null : Statistics.Median(Each(_limit)),
            Goals = goals,
        };
    }
}
