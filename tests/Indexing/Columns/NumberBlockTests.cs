using System.Runtime.InteropServices;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Columns;

/// <summary>Blocks of numbers against an array of them.</summary>
public sealed class NumberBlockTests
{
    [Fact]
    public void Numbers_are_found_between_any_two_of_every_width_where_all_have_one_and_where_some_do()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 400; round++)
        {
            int count = random.Next(4) switch
            {
                0 => NumberBlock.Entries,
                1 => 1 + random.Next(130),
                _ =>
                1 + random.Next(NumberBlock.Entries)
            };
            long?[] model = Model(random, count, bits: round % 54, holes: random.Next(3), isSkewed: random.Next(3) == 0);
            byte[] bytes = Encode(model);
            var block = new NumberBlock(bytes);
            long[] there = [.. model.OfType<long>()];
            Assert.Equal((there.Min(), there.Max()), (block.Least, block.Greatest));
            for (int i = 0; i < model.Length; i++)
            {
                Assert.Equal(model[i] is not null, block.Has(i));
                if (model[i] is { } value)
                    Assert.Equal(value, block.ValueAt(i));
            }

            for (int query = 0; query < 20; query++)
            {
                long low = End(random, there, -SortChunk.MaxPacked),
                    high = query % 5 == 0
                        ? End(random, there, SortChunk.MaxPacked)
                        : Math.Max(low, End(random, there, SortChunk.MaxPacked));
                AssertBetween(block, model, low, high, random, $"seed {seed}, round {round}: {low} to {high}");
            }
        }
    }

    [Fact]
    public void Values_are_set_taken_away_and_kept_when_a_block_is_changed()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var editor = new NumberBlockEditor();
        long?[] model = new long?[NumberBlock.Entries];
        byte[] key = new byte[NumberKey.Bytes], output = new byte[NumberBlock.MaxBytes];
        for (int round = 0; round < 60; round++)
        {
            int bits = random.Next(54);
            for (int i = random.Next(500); i < random.Next(5_000) && i < model.Length; i += random.Next(1, 4))
            {
                model[i] = random.Next(4) == 0 ? null : random.NextInt64(-(1L << bits), 1L << bits);
                if (model[i] is { } value)
                {
                    NumberKey.Write(key, value);
                    Assert.True(editor.TrySet(i, key));
                }
                else
                {
                    editor.Remove(i);
                }
            }

            int length = editor.Encode(output);
            if (length <= 0)
            {
                Assert.True((length == 0) == model.All(static value => value is null), $"seed {seed}");
                continue;
            }

            editor.Clear();
            var block = new NumberBlock(output.AsSpan(0, length));
            editor.Load(block);
            for (int i = 0; i < model.Length; i++)
            {
                Assert.Equal(model[i] is not null, editor.TryGet(i, out long value));
                Assert.Equal(model[i] ?? value, value);
            }
        }
    }

    [Fact]
    public void What_is_no_whole_number_or_too_large_is_not_taken()
    {
        var editor = new NumberBlockEditor();
        editor.Clear();
        byte[] key = new byte[NumberKey.Bytes];
        foreach (double value in new[] { 0.5, double.PositiveInfinity, 1e300, -1e17 })
        {
            NumberKey.Write(key, value);
            Assert.False(editor.TrySet(5, key));
        }

        NumberKey.Write(key, SortChunk.MaxPacked + 1);
        Assert.False(editor.TrySet(5, key));
        Assert.Equal(0, editor.Encode(new byte[NumberBlock.MaxBytes]));
        foreach (long end in new[] { SortChunk.MaxPacked, -SortChunk.MaxPacked })
        {
            NumberKey.Write(key, end);
            Assert.True(editor.TrySet(end > 0 ? 1 : 0, key));
        }

        byte[] output = new byte[NumberBlock.MaxBytes];
        var block = new NumberBlock(output.AsSpan(0, editor.Encode(output)));
        Assert.Equal(
            (NumberBlock.MaxBits, -SortChunk.MaxPacked, SortChunk.MaxPacked),
            (output[NumberBlock.WidthOffset], block.ValueAt(0), block.ValueAt(1)));
    }

    [Fact]
    public void A_damaged_block_gives_an_error_or_values_and_never_looks_outside()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        int errors = 0;
        for (int round = 0; round < 3_000; round++)
        {
            byte[] bytes = Encode(Model(random, 1 + random.Next(300), random.Next(54), holes: random.Next(2), isSkewed: false));
            if (round % 3 == 0)
                bytes = bytes[..random.Next(bytes.Length)];
            else
                bytes[random.Next(Math.Min(bytes.Length, round % 2 == 0 ? 20 : bytes.Length))] ^= (byte)(1 << random.Next(8));
            try
            {
                var block = new NumberBlock(bytes);
                ulong[] words = new ulong[NumberBlock.Chunks];
                Array.Fill(words, ulong.MaxValue);
                block.Between(block.Least + random.Next(1_000), block.Greatest - random.Next(1_000), words);
                for (int i = 0; i < NumberBlock.Entries; i++)
                    _ = block.Has(i) ? block.ValueAt(i) : 0;
                new NumberBlockEditor().Load(block);
            }
            catch (CorruptionException)
            {
                errors++;
            }
        }

        Assert.True(errors > 1_000, $"seed {seed}: {errors} errors");
    }

    private static void AssertBetween(NumberBlock block, long?[] model, long low, long high, Random random, string what)
    {
        ulong[] words = new ulong[NumberBlock.Chunks], expected = new ulong[NumberBlock.Chunks];
        var asked = new List<ushort>();
        for (int i = 0; i < NumberBlock.Entries; i++)
        {
            if (random.Next(4) == 0)
                continue;
            words[i >> 6] |= 1UL << i;
            asked.Add((ushort)i);
            if (i < model.Length && model[i] is { } value && value >= low && value <= high)
                expected[i >> 6] |= 1UL << i;
            Assert.True(block.IsBetween(i, low, high) == ((expected[i >> 6] >> i & 1) != 0), $"{what}, entry {i}");
        }

        block.Between(low, high, words);
        Assert.True(expected.AsSpan().SequenceEqual(words), what);
        ushort[] offsets = [.. asked];
        int kept = block.Keep(low, high, offsets);
        Assert.Equal(asked.Where(i => (expected[i >> 6] >> i & 1) != 0), offsets[..kept]);
        if (block.IsWhole)
            AssertCount(block, expected, asked, low, high, random, what);
    }

    /// <summary>Counts a bitmap, and a list, of what is asked.</summary>
    private static void AssertCount(
        NumberBlock block, ulong[] inside, List<ushort> asked, long low, long high, Random random, string what)
    {
        ushort[] open = new ushort[NumberBlock.Entries],
            few = [.. asked.Where(_ => random.Next(60) == 0).Take(PostingWindow.MinBitsCount - 1)];
        ulong[] words = new ulong[NumberBlock.Chunks];
        foreach (ushort i in asked)
            words[i >> 6] |= 1UL << i;
        foreach ((
            int size,
            byte[] payload) in ((int, byte[])[])
            [
                (asked.Count, MemoryMarshal.AsBytes<ulong>(words).ToArray()),
                (few.Length, MemoryMarshal.AsBytes<ushort>(few).ToArray())
            ])
        {
            if (size == 0)
                continue;
            var entries = new PostingWindow(size, payload);
            int count = block.CountBetween(low, high, in entries, open, out int left), wanted = 0;
            count += left == 0 ? 0 : block.CountOpen(low, high, open.AsSpan(0, left));
            foreach (ushort i in entries.Form == WindowSetForm.List ? few : asked.ToArray())
                wanted += (int)(inside[i >> 6] >> i & 1);
            Assert.True(wanted == count, $"{what}, {entries.Count} entries: {count} instead of {wanted}");
        }
    }

    private static long End(Random random, long[] there, long far) => random.Next(6) switch
    {
        0 => far,
        1 => there[random.Next(there.Length)],
        2 => there[random.Next(there.Length)] + 1,
        3 => there[random.Next(there.Length)] - 1,
        _ => random.NextInt64(there.Min() - 2, there.Max() + 3),
    };

    private static long?[] Model(Random random, int count, int bits, int holes, bool isSkewed)
    {
        long least = random.NextInt64(-(1L << 52), 1L << 52);
        if (bits == 53)
            least = -SortChunk.MaxPacked;
        var model = new long?[count];
        for (int i = 0; i < count; i++)
            model[i] = i < count - 1 && random.Next(4) < holes
                ? null
                : least + (isSkewed && random.Next(300) > 0 ? random.NextInt64(1L << (bits / 2)) : random.NextInt64(1L << bits));
        return model;
    }

    private static byte[] Encode(long?[] model)
    {
        var editor = new NumberBlockEditor();
        editor.Clear();
        byte[] key = new byte[NumberKey.Bytes], output = new byte[NumberBlock.MaxBytes];
        for (int i = 0; i < model.Length; i++)
        {
            if (model[i] is not { } value)
                continue;
            NumberKey.Write(key, value);
            Assert.True(editor.TrySet(i, key));
        }

        int length = editor.Encode(output);
        Assert.True(length > 0);
        return output[..length];
    }
}
