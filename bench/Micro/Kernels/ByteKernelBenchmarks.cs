using BenchmarkDotNet.Attributes;
using Treepie.Indexing.Kernels;

namespace Treepie.Bench.Micro.Kernels;

/// <summary>Time to compare the highest bytes of the 4,096 numbers of a window with a range that has half of them.</summary>
public class ByteKernelBenchmarks
{
    private const int Entries = BitmapKernels.Words * ByteKernels.Group;

    private static readonly ByteRange _outer = new(64, 191);
    private static readonly ByteRange _inner = new(65, 190);

    private readonly byte[] _bytes = new byte[Entries];
    private readonly ulong[] _words = new ulong[BitmapKernels.Words];
    private readonly ulong[] _edges = new ulong[BitmapKernels.Words];
    private readonly ushort[] _open = new ushort[Entries];

    [GlobalSetup]
    public void Draw()
    {
        new Random(1).NextBytes(_bytes);
        Array.Fill(_words, ulong.MaxValue);
    }

    [Benchmark]
    public bool Between()
    {
        Array.Fill(_words, ulong.MaxValue);
        return ByteKernels.Between(_bytes, _outer, _inner, _words, _edges);
    }

    [Benchmark]
    public bool BetweenScalar()
    {
        Array.Fill(_words, ulong.MaxValue);
        return ByteKernels.BetweenScalar(_bytes, _outer, _inner, _words, _edges);
    }

    [Benchmark]
    public int Count() => ByteKernels.Count(_bytes, _outer, _inner, _words, _open, out int found) + found;

    [Benchmark]
    public int CountScalar() => ByteKernels.CountScalar(_bytes, _outer, _inner, _words, _open, out int found) + found;
}
