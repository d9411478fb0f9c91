using BenchmarkDotNet.Attributes;
using Treepie.Storage.Kernels;

namespace Treepie.Bench.Micro.Kernels;

/// <summary>As <see cref="SortedSetBenchmarks"/>, for 16-bit offsets in a window; many pairs, so that no branch is learnt.</summary>
public class SortedOffsetBenchmarks
{
    private const int Pairs = 256;

    private ushort[][] _left = [];
    private ushort[][] _right = [];
    private ushort[] _work = [];

    private delegate int Form(Span<ushort> left, ReadOnlySpan<ushort> right);

    [Params(30, 100)]
    public int LeftCount { get; set; }

    [Params(120)]
    public int RightCount { get; set; }

    [GlobalSetup]
    public void Draw()
    {
        _left = [.. Enumerable.Range(0, Pairs).Select(i => Sorted.Offsets(LeftCount, i))];
        _right = [.. Enumerable.Range(0, Pairs).Select(i => Sorted.Offsets(RightCount, i))];
        _work = new ushort[LeftCount];
    }

    [Benchmark(OperationsPerInvoke = Pairs)]
    public int Intersect() => Each(SortedSets.Intersect);

    [Benchmark(OperationsPerInvoke = Pairs)]
    public int IntersectScalar() => Each(static (left, right) => SortedSets.FilterScalar(left, right, wanted: true));

    [Benchmark(OperationsPerInvoke = Pairs)]
    public int Except() => Each(SortedSets.Except);

    [Benchmark(OperationsPerInvoke = Pairs)]
    public int ExceptScalar() => Each(static (left, right) => SortedSets.FilterScalar(left, right, wanted: false));

    private int Each(Form form)
    {
        int kept = 0;
        for (int i = 0; i < Pairs; i++)
        {
            _left[i].CopyTo(_work, 0);
            kept += form(_work, _right[i]);
        }

        return kept;
    }
}
