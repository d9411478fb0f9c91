using BenchmarkDotNet.Attributes;
using Treepie.Indexing.Columns;

namespace Treepie.Bench.Micro.Codecs;

/// <summary>Time to write the repeating texts of 2,048 entries as a column has them, and to read which text each entry has.</summary>
public class TextBlockBenchmarks
{
    private readonly TextBlockEditor _editor = new();
    private readonly byte[] _output = new byte[TextBlock.MaxBytes];
    private byte[] _encoded = [];

    /// <summary>Distinct texts.</summary>
    [Params(3, 31)]
    public int Texts { get; set; }

    [GlobalSetup]
    public void Draw()
    {
        var random = new Random(Texts);
        for (int entry = 0; entry < TextBlock.Entries; entry++)
        {
            if (!_editor.TrySet(entry, [.. "text "u8, (byte)('A' + random.Next(Texts))]))
                throw new InvalidOperationException("A block has no place for this text.");
        }

        _encoded = _output[..Encode()];
    }

    [Benchmark]
    public int Encode() => _editor.Encode(_output);

    [Benchmark]
    public int Decode()
    {
        var block = new TextBlock(_encoded);
        int sum = 0;
        for (int entry = 0; entry < TextBlock.Entries; entry++)
            sum += block.PlaceOf(entry);
        return sum;
    }
}
