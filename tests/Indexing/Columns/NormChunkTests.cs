using Treepie.Indexing.Columns;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Columns;

public sealed class NormChunkTests
{
    [Fact]
    public void Lengths_of_every_width_are_read_as_they_were_written()
    {
        var random = new Random(Seed.Next());
        byte[] output = new byte[NormChunk.MaxBytes];
        foreach (int count in new[]
        {
            1, 2, 255, 256, 4_095, 4_096, 4_097, 8_192, 20_000, NormChunk.Entries - 1, NormChunk.Entries
        })
        {
            for (int round = 0; round < 8; round++)
            {
                int[] lengths = new int[NormChunk.Entries];
                for (int window = 0; window << NormChunk.WindowBits < count; window++)
                {
                    // Windows have widths of their own; some have no entry with a length.
                    int largest = new[] { 0, 1, 255, 256, 65_535, 65_536, int.MaxValue }[random.Next(7)];
                    for (int i = window << NormChunk.WindowBits; i < Math.Min(count, (window + 1) << NormChunk.WindowBits); i++)
                        lengths[i] = largest == 0 || random.Next(3) == 0
                            ? 0
                            : random.Next(50) == 0 ? largest : random.Next(largest);
                }

                lengths[count - 1] = Math.Max(1, lengths[count - 1]);
                int bytes = NormChunk.Encode(lengths, output);
                int wide = Enumerable.Range(0, NormChunk.Windows)
                    .FirstOrDefault(
                        window => lengths.AsSpan(window << NormChunk.WindowBits, NormChunk.WindowEntries) is var mine
                            && (!mine.ContainsAnyExcept(0) || mine.ContainsAnyExceptInRange(0, 255)),
                        NormChunk.Windows);
                Assert.Equal(
                    lengths.Take(Math.Min(count, wide << NormChunk.WindowBits)),
                    NormChunk.Plain(output.AsSpan(0, bytes)).ToArray().Select(static length => (int)length));
                for (int window = 0; window < NormChunk.Windows; window++)
                {
                    int[] mine = lengths[(window << NormChunk.WindowBits)..((window + 1) << NormChunk.WindowBits)];
                    var chunk = new NormChunk(output.AsSpan(0, bytes), (random.Next(1_000) * (long)NormChunk.Windows) + window);
                    Assert.Equal(
                        mine.All(static length => length == 0) ? 0 : Math.Min(4_096, count - (window << NormChunk.WindowBits)),
                        chunk.Count);
                    for (int slot = 0; slot < mine.Length; slot++)
                        Assert.Equal(mine[slot], chunk[slot]);
                    Assert.Equal(0, chunk[NormChunk.WindowEntries]);
                    Assert.Equal(mine.Max() <= 255, chunk.Bytes.Length == chunk.Count);
                    Assert.True(chunk.Bytes.IsEmpty || mine.Max() <= 255);
                }
            }
        }

        Assert.Equal(0, NormChunk.Encode(new int[NormChunk.Entries], output));
        Assert.True(NormChunk.Plain(default).IsEmpty);
        Assert.Equal(0, new NormChunk(default, 0).Count);
        Assert.Equal(0, new NormChunk(default, 0)[0]);
    }

    [Fact]
    public void An_entry_has_one_place()
    {
        foreach (long id in new[] { 0L, 4_095, 4_096, 28_671, 28_672, 28_673, 1L << 40, (1L << 40) + 12_345 })
            Assert.Equal(id, (NormChunk.WindowOf(id) << NormChunk.WindowBits) + NormChunk.SlotOf(id));
        Assert.Equal((0, 1), (NormChunk.NumberOf(6), NormChunk.NumberOf(7)));
    }

    [Fact]
    public void Damaged_chunks_give_some_length_or_an_error()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 20_000; round++)
        {
            byte[] bytes = new byte[random.Next(100)];
            random.NextBytes(bytes);
            if (bytes.Length >= 8 && round % 2 == 0)
                bytes.AsSpan(0, 7).Clear();
            if (bytes.Length >= 8 && round % 2 == 0)
                bytes[random.Next(7)] = (byte)random.Next(8);
            var chunk = new NormChunk(bytes, random.Next(7));
            Assert.True(NormChunk.Plain(bytes).Length <= Math.Max(0, bytes.Length - 8));
            try
            {
                for (int slot = 0; slot < 100; slot++)
                    _ = chunk[slot];
            }
            catch (CorruptionException)
            {
                // A width that there is not.
            }
        }
    }
}
