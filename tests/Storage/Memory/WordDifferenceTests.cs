using Treepie.Storage.Memory;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Memory;

public sealed class WordDifferenceTests
{
    private const int Words = 1024;

    [Fact]
    public void Vectors_of_every_width_find_the_same_words_as_plain_steps()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 500; round++)
        {
            (ulong[] left, ulong[] right) = Draw(random, round);
            ulong[] expected = new ulong[Words / 64],
                found256 = new ulong[Words / 64],
                found512 = new ulong[Words / 64],
                found = new ulong[Words / 64];
            for (int i = 0; i < Words; i++)
                if (left[i] != right[i])
                    expected[i / 64] |= 1UL << (i % 64);

            ulong[] scalar = new ulong[Words / 64];
            WordDifference.FindScalar(left, right, scalar);
            WordDifference.Find256(left, right, found256);
            WordDifference.Find512(left, right, found512);
            WordDifference.Find(left, right, found);
            Assert.Equal(expected, scalar);
            Assert.Equal(expected, found256);
            Assert.Equal(expected, found512);
            Assert.Equal(expected, found);
        }
    }

    [Fact]
    public void Single_gaps_are_filled_and_longer_ones_stay()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 500; round++)
        {
            (ulong[] left, ulong[] right) = Draw(random, round);
            ulong[] bits = new ulong[Words / 64];
            WordDifference.FindScalar(left, right, bits);
            WordDifference.FillSingleGaps(bits);
            for (int i = 0; i < Words; i++)
            {
                bool isBetween = i > 0 && i < Words - 1 && left[i - 1] != right[i - 1] && left[i + 1] != right[i + 1];
                Assert.Equal(left[i] != right[i] || isBetween, (bits[i / 64] & (1UL << (i % 64))) != 0);
            }
        }
    }

    [Fact]
    public void The_next_bit_is_the_one_that_a_walk_finds()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 50; round++)
        {
            (ulong[] left, ulong[] right) = Draw(random, round);
            ulong[] bits = new ulong[Words / 64];
            WordDifference.FindScalar(left, right, bits);
            for (int from = 0; from <= Words; from++)
            {
                foreach (bool isSet in new[] { true, false })
                {
                    int expected = from;
                    while (expected < Words && left[expected] != right[expected] != isSet)
                        expected++;
                    Assert.Equal(expected, WordDifference.Next(bits, from, isSet));
                }
            }
        }
    }

    /// <summary>Arrays that are equal, completely different, or differ in few, many or adjacent words, by one bit or by
    /// all.</summary>
    private static (ulong[] Left, ulong[] Right) Draw(Random random, int round)
    {
        ulong[] left = [.. Enumerable.Range(0, Words).Select(_ => (ulong)random.NextInt64())];
        ulong[] right = [.. left];
        int changes = (round % 5) switch { 0 => 0, 1 => 3, 2 => 60, 3 => 700, _ => Words };
        int place = 0;
        for (int i = 0; i < changes; i++)
        {
            place = round % 2 == 0 ? random.Next(Words) : (place + random.Next(1, 4)) % Words;
            right[place] ^= 1UL << random.Next(64);
        }

        return (left, right);
    }
}
