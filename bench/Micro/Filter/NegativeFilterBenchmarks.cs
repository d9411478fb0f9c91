using BenchmarkDotNet.Attributes;

namespace Treepie.Bench.Micro.Filter;

/// <summary>
/// Time per number to remove the negative ones from lists, which are copied first because that is done in place. The suite
/// <c>filter</c> compares more forms and sizes.
/// </summary>
public class NegativeFilterBenchmarks
{
    /// <summary>Half a megabyte, in the second-level cache.</summary>
    private const int Numbers = 1 << 16;

    private readonly long[] _source = new long[Numbers];
    private readonly long[] _work = new long[Numbers];

    private delegate int Form(Span<long> items);

    [Params(32, 1024)]
    public int Length { get; set; }

    [Params(0.5, 5, 15)]
    public double PercentNegative { get; set; }

    [GlobalSetup]
    public void Draw()
    {
        var random = new Random(Length);
        for (int i = 0; i < _source.Length; i++)
            _source[i] = random.NextDouble() * 100 < PercentNegative ? ~random.NextInt64() : random.NextInt64();
    }

    [Benchmark(OperationsPerInvoke = Numbers)]
    public int Chosen() => Remove(NegativeFilter.Remove);

    [Benchmark(OperationsPerInvoke = Numbers, Baseline = true)]
    public int Scalar() => Remove(NegativeFilter.RemoveScalar);

    /// <summary>What is in the time of the others: the copy.</summary>
    [Benchmark(OperationsPerInvoke = Numbers)]
    public int CopyAlone() => Remove(static items => items.Length);

    private int Remove(Form form)
    {
        _source.CopyTo(_work, 0);
        int kept = 0;
        for (int from = 0; from < Numbers; from += Length)
            kept += form(_work.AsSpan(from, Length));
        return kept;
    }
}
