using BenchmarkDotNet.Attributes;
using Treepie.Storage.Kernels;

namespace Treepie.Bench.Micro.Kernels;

/// <summary>Time to find the place of one number among the sorted heads of keys of a page.</summary>
public class SortedSearchBenchmarks
{
    private const int Asked = 4096;
    private const uint Distance = 7919;

    private readonly uint[] _asked = new uint[Asked];
    private uint[] _heads = [];

    [Params(100, 1_000)]
    public int Heads { get; set; }

    [GlobalSetup]
    public void Draw()
    {
        var random = new Random(Heads);
        _heads = [.. Enumerable.Range(0, Heads).Select(i => (uint)i * Distance)];
        for (int i = 0; i < Asked; i++)
            _asked[i] = (uint)random.NextInt64(Heads * Distance);
    }

    [Benchmark(OperationsPerInvoke = Asked)]
    public int LowerBound()
    {
        int sum = 0;
        foreach (uint value in _asked)
            sum += SortedSearch.LowerBound<uint>(_heads, value);
        return sum;
    }

    [Benchmark(OperationsPerInvoke = Asked, Baseline = true)]
    public int LowerBoundScalar()
    {
        int sum = 0;
        foreach (uint value in _asked)
            sum += SortedSearch.LowerBoundScalar<uint>(_heads, value);
        return sum;
    }
}
