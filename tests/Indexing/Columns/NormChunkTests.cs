using Treepie.Indexing.Columns;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Columns;

public sealed class NormChunkTests
{
    [Fact]
    public void Lengths_of_every_width_are_read_as_they_were_written()
    {
        var random = new Random(Seed.Next());
        byte[] output = new byte[NormChunk.MaxBytes];
        foreach (int count in new[] { 1, 2, 255, 256, 4_095, 4_096 })
        {
            foreach (int largest in new[] { 1, 255, 256, 65_535, 65_536, int.MaxValue })
            {
                int[] lengths = [.. Enumerable.Range(0, count).Select(_ => random.Next(3) == 0 ? 0 : random.Next(largest))];
                lengths[random.Next(count)] = largest;
                lengths[^1] = Math.Max(1, lengths[^1]);
                int length = NormChunk.Encode(lengths, output);
                var chunk = new NormChunk(output.AsSpan(0, length));
                Assert.Equal(count, chunk.Count);
                for (int slot = 0; slot < count; slot++)
                    Assert.Equal(lengths[slot], chunk[slot]);
                Assert.Equal(0, chunk[NormChunk.Entries]);
                Assert.Equal(lengths.Max() <= 255, chunk.Bytes.Length == count);
            }
        }

        Assert.Equal(0, new NormChunk(default).Count);
        Assert.Equal(0, new NormChunk(default)[0]);
    }
}
