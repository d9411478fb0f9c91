using Treepie.Indexing.Automata;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Automata;

/// <summary>Endings found by one search, against each compared with the term.</summary>
public sealed class TermEndingsTests
{
    [Fact]
    public void A_term_has_an_ending_exactly_if_one_of_them_is_its_end()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 2_000; round++)
        {
            byte[][] all = [.. Enumerable.Range(0, 1 + random.Next(12)).Select(_ => Bytes(1))];
            var endings = new TermEndings(all);
            for (int i = 0; i < 20; i++)
            {
                byte[] term = Bytes(0);
                Assert.True(
                    Array.Exists(all, ending => term.AsSpan().EndsWith(ending)) == endings.Matches(term),
                    $"seed {seed}, round {round}: {Convert.ToHexString(term)} and "
                    + string.Join(", ", all.Select(Convert.ToHexString)));
            }
        }

        byte[] Bytes(int least) => [.. Enumerable.Range(0, least + random.Next(5)).Select(_ => (byte)random.Next(254, 257))];
    }
}
