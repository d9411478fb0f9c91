using BenchmarkDotNet.Attributes;
using Treepie.Indexing.Columns;

namespace Treepie.Bench.Micro.Codecs;

/// <summary>Time to write the lengths of the 28,672 texts of a chunk, and to read them one by one.</summary>
public class NormChunkBenchmarks
{
    private readonly int[] _lengths = new int[NormChunk.Entries];
    private readonly byte[] _output = new byte[NormChunk.MaxBytes];
    private byte[] _encoded = [];

    /// <summary>The longest text, in terms: lengths of one byte, or of two.</summary>
    [Params(200, 2_000)]
    public int Longest { get; set; }

    [GlobalSetup]
    public void Draw()
    {
        var random = new Random(Longest);
        for (int i = 0; i < _lengths.Length; i++)
            _lengths[i] = random.Next(1, Longest);
        _encoded = _output[..Encode()];
    }

    [Benchmark]
    public int Encode() => NormChunk.Encode(_lengths, _output);

    [Benchmark]
    public long Decode()
    {
        long sum = 0;
        for (int window = 0; window < NormChunk.Windows; window++)
        {
            var chunk = new NormChunk(_encoded, window);
            for (int slot = 0; slot < NormChunk.WindowEntries; slot++)
                sum += chunk[slot];
        }

        return sum;
    }
}
