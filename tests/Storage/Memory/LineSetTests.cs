using Treepie.Storage.Memory;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Memory;

public class LineSetTests
{
    [Fact]
    public void It_has_the_lines_of_every_byte_that_was_added_and_copies_those()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 300; round++)
        {
            byte[] from = new byte[LineSet.CoveredBytes],
                to = new byte[LineSet.CoveredBytes],
                expected = new byte[LineSet.CoveredBytes];
            random.NextBytes(from);
            LineSet lines = default;
            for (int i = random.Next(6); i > 0; i--)
            {
                int offset = random.Next(LineSet.CoveredBytes),
                    length = Math.Min(random.Next(1, round % 5 == 0 ? 5_000 : 200), LineSet.CoveredBytes - offset);
                lines.Add(offset, length);
                int first = offset / LineSet.LineBytes * LineSet.LineBytes,
                    last = (offset + length + LineSet.LineBytes - 1) / LineSet.LineBytes * LineSet.LineBytes;
                from.AsSpan(first..last).CopyTo(expected.AsSpan(first));
            }

            lines.Copy(from, to);

            Assert.Equal(expected, to);
            Assert.True(lines.CoversDifferences(from, [.. from]));
            Assert.Equal(lines.IsAll, lines.CoversDifferences(from, [.. from.Select(static one => (byte)~one)]));
        }
    }

    [Fact]
    public void Words_are_compared_in_its_lines_and_nowhere_else()
    {
        var random = new Random(Seed.Next());
        ulong[] left = new ulong[1024], right = new ulong[1024], all = new ulong[16], some = new ulong[16];
        for (int round = 0; round < 300; round++)
        {
            for (int i = 0; i < left.Length; i++)
                right[i] = (left[i] = (ulong)random.NextInt64()) ^ (random.Next(4) == 0 ? 1UL : 0);
            LineSet lines = default;
            ulong[] expected = new ulong[16];
            WordDifference.Find(left, right, all);
            foreach (int line in Enumerable.Range(0, 128).Where(_ => random.Next(3) == 0))
            {
                lines.Add(line * LineSet.LineBytes, LineSet.LineBytes);
                expected[line / 8] |= all[line / 8] & (0xFFUL << (line % 8 * 8));
            }

            WordDifference.Find(left, right, lines, some);

            Assert.Equal(expected, some);
        }
    }
}
