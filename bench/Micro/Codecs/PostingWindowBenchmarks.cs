using BenchmarkDotNet.Attributes;
using Treepie.Indexing.Postings;

namespace Treepie.Bench.Micro.Codecs;

/// <summary>Time to write and read the postings of a term in one window, as a list and as a bitmap.</summary>
public class PostingWindowBenchmarks
{
    private readonly byte[] _impacts = new byte[PostingWindow.Blocks];
    private readonly ushort[] _offsetsRead = new ushort[PostingWindow.Size];
    private readonly int[] _frequenciesRead = new int[PostingWindow.Size];
    private ushort[] _offsets = [];
    private int[] _frequencies = [];
    private byte[] _encoded = [];
    private byte[] _output = [];

    /// <summary>Postings: a list up to 127, a bitmap from 128 on.</summary>
    [Params(16, 127, 1024)]
    public int Count { get; set; }

    [GlobalSetup]
    public void Draw()
    {
        var random = new Random(Count);
        random.NextBytes(_impacts);
        _offsets = Sorted.Offsets(Count);
        // Most words of a text occur once in it.
        _frequencies = [.. Enumerable.Range(0, Count).Select(_ => random.Next(4) == 0 ? random.Next(2, 16) : 1)];
        _output = new byte[PostingWindow.MaxEncodedBytes(Count)];
        _encoded = _output[..Encode()];
    }

    [Benchmark]
    public int Encode() => PostingWindow.Encode(_offsets, _frequencies, _impacts, _output);

    [Benchmark]
    public int DecodeOffsets() => new PostingWindow(Count, _encoded).CopyOffsets(_offsetsRead);

    [Benchmark]
    public int DecodeFrequencies()
    {
        new PostingWindow(Count, _encoded).CopyFrequencies(_frequenciesRead);
        return _frequenciesRead[0];
    }
}
