using Treepie.Indexing.Kernels;
using Treepie.Indexing.Terms;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

public sealed class VarintKernelsTests
{
    [Fact]
    public void Entries_of_short_lists_are_set_by_eight_bytes_as_one_by_one()
    {
        var random = new Random(Seed.Next());
        byte[] bytes = new byte[20_000];
        for (int round = 0; round < 500; round++)
        {
            ulong[] expected = new ulong[2_000], bits = new ulong[2_000], scalar = new ulong[2_000];
            int length = 0, oneIn = random.Next(1, 30), step = 1 << random.Next(17);
            long last = 0;
            for (long id = random.Next(step); id < expected.Length * 64 && length < bytes.Length - 20; id += random.Next(1, step + 1))
            {
                bool isAbove = random.Next(oneIn) == 0;
                length += Varint.WriteLong(bytes.AsSpan(length), ((id - last) * 2) + (isAbove ? 1 : 0));
                length += isAbove ? Varint.Write(bytes.AsSpan(length), random.Next(2, 300)) : 0;
                expected[id >> 6] |= 1UL << (int)id;
                last = id;
            }

            Assert.True(VarintKernels.SetEntries(bits, bytes.AsSpan(0, length)));
            Assert.True(VarintKernels.SetEntriesScalar(scalar, bytes.AsSpan(0, length)));
            Assert.Equal(expected, bits);
            Assert.Equal(expected, scalar);

            // What is beyond the bits, or does not end, is damage.
            int words = (int)(last >> 6);
            Assert.False(VarintKernels.SetEntries(new ulong[words], bytes.AsSpan(0, length)));
            Assert.False(VarintKernels.SetEntriesScalar(new ulong[words], bytes.AsSpan(0, length)));
            bytes[length++] = 0x80;
            Assert.False(VarintKernels.SetEntries(bits, bytes.AsSpan(0, length)));
            Assert.False(VarintKernels.SetEntriesScalar(scalar, bytes.AsSpan(0, length)));
        }
    }
}
