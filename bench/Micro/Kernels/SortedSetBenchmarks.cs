using BenchmarkDotNet.Attributes;
using Treepie.Storage.Kernels;

namespace Treepie.Bench.Micro.Kernels;

/// <summary>
/// Intersection, difference and union of two sets of sorted ids against one number at a time. What changes its left set in place
/// gets a copy of it, which is in the time.
/// </summary>
public class SortedSetBenchmarks
{
    private long[] _left = [];
    private long[] _right = [];
    private long[] _work = [];
    private long[] _both = [];

    [Params(100, 1_000, 10_000)]
    public int LeftCount { get; set; }

    [Params(10_000)]
    public int RightCount { get; set; }

    [GlobalSetup]
    public void Draw()
    {
        _left = Sorted.Ids(LeftCount, 4 * RightCount);
        _right = Sorted.Ids(RightCount, (4 * RightCount) + 1);
        _work = new long[LeftCount];
        _both = new long[LeftCount + RightCount];
    }

    [Benchmark]
    public int Intersect() => SortedSets.Intersect(Copy(), _right);

    [Benchmark]
    public int IntersectScalar() => SortedSets.FilterScalar(Copy(), _right, wanted: true);

    [Benchmark]
    public int Except() => SortedSets.Except(Copy(), _right);

    [Benchmark]
    public int ExceptScalar() => SortedSets.FilterScalar(Copy(), _right, wanted: false);

    private Span<long> Copy()
    {
        _left.CopyTo(_work, 0);
        return _work;
    }

    [Benchmark]
    public int Union() => SortedSets.Union(_left, _right, _both);

    [Benchmark]
    public int UnionScalar() => SortedUnion.Scalar(_left, _right, _both);
}
