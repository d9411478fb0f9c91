using BenchmarkDotNet.Attributes;
using Treepie.Indexing.Kernels;

namespace Treepie.Bench.Micro.Kernels;

/// <summary>Time to add the impacts of a term to the levels of the 64 blocks of a window, and to take those that reach one.</summary>
public class LevelKernelBenchmarks
{
    private const ushort Weight = 40;
    private const ushort Least = 49_152;

    private readonly byte[] _impacts = new byte[LevelKernels.Blocks];
    private readonly ushort[] _drawn = new ushort[LevelKernels.Blocks];
    private readonly ushort[] _levels = new ushort[LevelKernels.Blocks];

    [GlobalSetup]
    public void Draw()
    {
        var random = new Random(1);
        random.NextBytes(_impacts);
        for (int i = 0; i < _drawn.Length; i++)
            _drawn[i] = (ushort)random.Next(LevelKernels.Greatest / 2, LevelKernels.Greatest - byte.MaxValue);
    }

    [Benchmark]
    public ushort Add()
    {
        _drawn.CopyTo(_levels, 0);
        return LevelKernels.Add(_impacts, Weight, _levels);
    }

    [Benchmark]
    public ushort AddScalar()
    {
        _drawn.CopyTo(_levels, 0);
        return LevelKernels.AddScalar(_impacts, Weight, _levels);
    }

    [Benchmark]
    public ulong Take()
    {
        _drawn.CopyTo(_levels, 0);
        return LevelKernels.Take(_levels, Least, out _);
    }

    [Benchmark]
    public ulong TakeScalar()
    {
        _drawn.CopyTo(_levels, 0);
        return LevelKernels.TakeScalar(_levels, Least, out _);
    }
}
