using Treepie.Indexing.Kernels;
using Treepie.Indexing.Terms;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

public sealed class VarintKernelsTests
{
    [Fact]
    public void Entries_of_short_lists_are_set_by_their_ends_as_one_by_one()
    {
        var random = new Random(Seed.Next());
        byte[] bytes = new byte[20_000];
        for (int round = 0; round < 500; round++)
        {
            ulong[] expected = new ulong[2_000], bits = new ulong[2_000], scalar = new ulong[2_000];
            int length = 0,
                most = random.Next(2) == 0 ? random.Next(1, 30) : int.MaxValue,
                behind = random.Next(2) * random.Next(200),
                oneIn = random.Next(1, 30),
                step = 1 << random.Next(17);
            long last = 0;
            for (long id = random.Next(step);
                 most-- > 0 && id < expected.Length * 64 && length < bytes.Length - 300;
                 id += random.Next(1, step + 1))
            {
                bool isAbove = random.Next(oneIn) == 0;
                length += Varint.WriteLong(bytes.AsSpan(length), ((id - last) * 2) + (isAbove ? 1 : 0));
                length += isAbove ? Varint.Write(bytes.AsSpan(length), random.Next(2, 300)) : 0;
                expected[id >> 6] |= 1UL << (int)id;
                last = id;
            }

            // What is behind them may be anything.
            random.NextBytes(bytes.AsSpan(length, behind));
            Assert.True(VarintKernels.SetEntries(bits, bytes.AsSpan(0, length + behind), length));
            Assert.True(VarintKernels.SetEntriesScalar(scalar, bytes.AsSpan(0, length)));
            Assert.Equal(expected, bits);
            Assert.Equal(expected, scalar);

            // What is beyond the bits, or does not end, is damage.
            int words = (int)(last >> 6);
            Assert.False(VarintKernels.SetEntries(new ulong[words], bytes.AsSpan(0, length + behind), length));
            Assert.False(VarintKernels.SetEntriesScalar(new ulong[words], bytes.AsSpan(0, length)));
            bytes[length++] = 0x80;
            Assert.False(VarintKernels.SetEntries(bits, bytes.AsSpan(0, length + behind), length));
            Assert.False(VarintKernels.SetEntriesScalar(scalar, bytes.AsSpan(0, length)));
        }
    }

    [Fact]
    public void Of_short_lists_a_frequency_that_is_missing_and_a_number_without_end_are_damage()
    {
        byte[] bytes = [.. Enumerable.Repeat((byte)0x80, 100)];
        foreach (int length in new[] { 9, 20, 40, 70, 100 })
        {
            Assert.False(VarintKernels.SetEntries(new ulong[64], bytes.AsSpan(0, length), length));
            byte[] entries = [.. Enumerable.Repeat((byte)2, length - 1), 3];
            Assert.False(VarintKernels.SetEntries(new ulong[64], entries, length));
            Assert.False(VarintKernels.SetEntriesScalar(new ulong[64], entries));
            Assert.False(VarintKernels.SetEntries(new ulong[64], [.. entries, 1, 1, 1], length));
            Assert.True(VarintKernels.SetEntries(new ulong[64], [.. entries, 7], length + 1));
        }
    }

    [Fact]
    public void The_last_entry_is_found_by_sums_as_by_going_along()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        byte[] bytes = new byte[4_096];
        for (int round = 0; round < 20_000; round++)
        {
            int length = 0,
                oneIn = random.Next(1, 12),
                mostBits = random.Next(1, random.Next(20) == 0 ? 50 : 27),
                count = random.Next(0, 120);
            long last = 0;
            for (int i = 0; i < count; i++)
            {
                long step = random.NextInt64(1, 1L << random.Next(1, mostBits + 1));
                bool isAbove = random.Next(oneIn) == 0;
                last += step;
                length += Varint.WriteLong(bytes.AsSpan(length), (step * 2) + (isAbove ? 1 : 0));
                length += isAbove ? Varint.Write(bytes.AsSpan(length), random.Next(2, 1 << random.Next(2, 30))) : 0;
            }

            ReadOnlySpan<byte> entries = bytes.AsSpan(0, length);
            Assert.True(VarintKernels.TryLast(entries, out ulong found) && found == (ulong)last, $"seed {seed}, round {round}");
            Assert.True(VarintKernels.TryLastScalar(entries, out found) && found == (ulong)last, $"seed {seed}, round {round}");
            if (length == 0)
                continue;

            // What does not end is damage, be it a number or a frequency that is not there.
            bytes[length - 1] |= 0x80;
            Assert.False(VarintKernels.TryLast(entries, out _), $"seed {seed}, round {round}");
            Assert.False(VarintKernels.TryLastScalar(entries, out _), $"seed {seed}, round {round}");
        }
    }
}
