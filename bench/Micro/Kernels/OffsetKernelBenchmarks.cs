using BenchmarkDotNet.Attributes;
using Treepie.Indexing.Kernels;

namespace Treepie.Bench.Micro.Kernels;

/// <summary>Time to merge two lists of offsets of a window: union in place, intersection. Many pairs, so that no branch is learnt.</summary>
public class OffsetKernelBenchmarks
{
    private const int Pairs = 256;
    private const int Padding = 15;

    private ushort[][] _left = [];
    private ushort[][] _right = [];
    private ushort[] _work = [];

    /// <summary>Offsets of each list; with 128 or more a window is a bitmap.</summary>
    [Params(8, 100)]
    public int Count { get; set; }

    [GlobalSetup]
    public void Draw()
    {
        _left = [.. Enumerable.Range(0, Pairs).Select(i => (ushort[])[.. Sorted.Offsets(Count, i), .. new ushort[Padding]])];
        _right = [.. Enumerable.Range(0, Pairs).Select(i => Sorted.Offsets(Count, Pairs + i))];
        _work = new ushort[(2 * Count) + Padding];
    }

    [Benchmark(OperationsPerInvoke = Pairs)]
    public int Unite()
    {
        int sum = 0;
        for (int i = 0; i < Pairs; i++)
        {
            _left[i].CopyTo(_work, 0);
            sum += OffsetKernels.Unite(_work, Count, _right[i]);
        }

        return sum;
    }

    [Benchmark(OperationsPerInvoke = Pairs)]
    public int Intersect()
    {
        int sum = 0;
        for (int i = 0; i < Pairs; i++)
            sum += OffsetKernels.Intersect(_left[i], Count, _right[i], _work);
        return sum;
    }

    [Benchmark(OperationsPerInvoke = Pairs)]
    public int IntersectScalar()
    {
        int sum = 0;
        for (int i = 0; i < Pairs; i++)
            sum += OffsetKernels.IntersectScalar(_left[i].AsSpan(0, Count), _right[i], _work);
        return sum;
    }
}
