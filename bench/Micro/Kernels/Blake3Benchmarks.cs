using BenchmarkDotNet.Attributes;
using Treepie.Storage.Format;
using Treepie.Storage.Kernels;

namespace Treepie.Bench.Micro.Kernels;

/// <summary>Time per byte of BLAKE3: the hash of pieces of a mebibyte, and the kernel alone.</summary>
public class Blake3Benchmarks : IDisposable
{
    private const int Bytes = 1 << 20;

    private readonly byte[] _bytes = new byte[Bytes];
    private readonly uint[] _values = new uint[Bytes / Blake3Kernel.ChunkBytes * Blake3Kernel.ValueWords];
    private readonly Blake3 _hash = new();

    /// <summary>Bytes of a piece: a chunk, a page, what backups read at once.</summary>
    [Params(1024, 8192, 1 << 20)]
    public int PieceBytes { get; set; }

    [GlobalSetup]
    public void Draw() => new Random(1).NextBytes(_bytes);

    [Benchmark(OperationsPerInvoke = Bytes)]
    public int Hash()
    {
        int sum = 0;
        for (int from = 0; from < Bytes; from += PieceBytes)
        {
            _hash.Reset();
            _hash.Append(_bytes.AsSpan(from, PieceBytes));
            sum += _hash.GetCurrentHash()[0];
        }

        return sum;
    }

    [Benchmark(OperationsPerInvoke = Bytes)]
    public uint HashChunks()
    {
        for (int from = 0; from < Bytes; from += PieceBytes)
            Blake3Kernel.HashChunks(_bytes.AsSpan(from, PieceBytes), 0, _values);
        return _values[0];
    }

    [Benchmark(OperationsPerInvoke = Bytes, Baseline = true)]
    public uint HashChunksScalar()
    {
        for (int from = 0; from < Bytes; from += PieceBytes)
            Blake3Kernel.HashChunksScalar(_bytes.AsSpan(from, PieceBytes), 0, _values);
        return _values[0];
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _hash.Dispose();
        GC.SuppressFinalize(this);
    }
}
