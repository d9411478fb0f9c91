using Treepie.Indexing.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

public sealed class PairKernelsTests
{
    private const int Entries = BitmapKernels.Words * 64;

    [Fact]
    public void Pairs_are_those_of_a_scan_by_vector_and_by_scalar()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 60; round++)
        {
            int most = random.Next(1, 14), longest = random.Next(2) == 0 ? 40 : 127, apart = random.Next(-3, 4);
            var first = new Word(random, random.Next(1, 5), most, longest);
            var second = new Word(random, random.Next(1, 5), random.Next(1, 14), longest);
            ulong[] asked = [
                .. first.Words.Zip(
                    second.Words,
                    (one, other) => (one & other & (ulong)random.NextInt64()) | (one & other & (1UL << random.Next(64))))];
            ulong[] found = [.. asked], foundScalar = [.. asked];
            float[] frequencies = new float[Entries], scalar = new float[Entries];
            PairKernels.Find(found, first.Places, second.Places, apart, frequencies);
            PairKernels.FindScalar(foundScalar, first.Places, second.Places, apart, scalar);
            for (int entry = 0; entry < Entries; entry++)
            {
                bool isAsked = (asked[entry >> 6] >> entry & 1) != 0;
                int expected = isAsked ? first.At[entry].Distinct().Count(place => second.At[entry].Contains(place + apart)) : 0;
                Assert.Equal(expected > 0, (found[entry >> 6] >> entry & 1) != 0);
                Assert.Equal(expected > 0, (foundScalar[entry >> 6] >> entry & 1) != 0);
                if (expected > 0)
                    Assert.Equal((expected, expected), ((int)frequencies[entry], (int)scalar[entry]));
            }
        }
    }

    /// <summary>A word in one of so many entries, up to so many times in each; several times at one place, too.</summary>
    private sealed class Word
    {
        private readonly ushort[] _starts = new ushort[PairKernels.StartsLength];
        private readonly byte[] _bytes;

        public Word(Random random, int oneIn, int most, int longest)
        {
            var all = new List<byte>();
            int rank = 0;
            for (int entry = 0; entry < Entries; entry++)
            {
                At[entry] = [];
                if (random.Next(oneIn) != 0)
                    continue;
                Words[entry >> 6] |= 1UL << entry;
                int place = 0;
                for (int i = random.Next(1, most + 1); i > 0; i--)
                {
                    int distance = random.Next((longest / 4) + 1);
                    place += distance;
                    all.Add((byte)distance);
                    At[entry].Add(place);
                }

                _starts[++rank] = (ushort)all.Count;
            }

            _bytes = [.. all, .. Enumerable.Range(0, PairKernels.Room).Select(_ => (byte)random.Next(128))];
        }

        public ulong[] Words { get; } = new ulong[BitmapKernels.Words];

        public List<int>[] At { get; } = new List<int>[Entries];

        public WordPlaces Places => new(Words, _starts, _bytes);
    }
}
