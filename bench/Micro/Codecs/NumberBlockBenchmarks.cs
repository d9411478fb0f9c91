using BenchmarkDotNet.Attributes;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Terms;

namespace Treepie.Bench.Micro.Codecs;

/// <summary>Time to write the 4,096 numbers of a window as a column has them, to read them, and to find those in a range.</summary>
public class NumberBlockBenchmarks
{
    private readonly NumberBlockEditor _editor = new();
    private readonly byte[] _output = new byte[NumberBlock.MaxBytes];
    private readonly ulong[] _words = new ulong[NumberBlock.Chunks];
    private byte[] _encoded = [];

    /// <summary>Bits of the numbers; eight of them lie apart from the others.</summary>
    [Params(8, 20, 40)]
    public int Bits { get; set; }

    [GlobalSetup]
    public void Draw()
    {
        var random = new Random(Bits);
        Span<byte> key = stackalloc byte[NumberKey.Bytes];
        for (int slot = 0; slot < NumberBlock.Entries; slot++)
        {
            NumberKey.Write(key, random.NextInt64(1L << Bits));
            if (!_editor.TrySet(slot, key))
                throw new InvalidOperationException("A block has no place for this number.");
        }

        _encoded = _output[..Encode()];
    }

    [Benchmark]
    public int Encode() => _editor.Encode(_output);

    [Benchmark]
    public long Decode()
    {
        var block = new NumberBlock(_encoded);
        long sum = 0;
        for (int slot = 0; slot < block.Count; slot++)
            sum += block.ValueAt(slot);
        return sum;
    }

    [Benchmark]
    public ulong Between()
    {
        Array.Fill(_words, ulong.MaxValue);
        new NumberBlock(_encoded).Between(1L << (Bits - 2), 3L << (Bits - 2), _words);
        return _words[0];
    }
}
