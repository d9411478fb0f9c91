using Treepie.Storage.Memory;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Memory;

public sealed class SortedSearchTests
{
    [Fact]
    public void Vectors_find_the_same_place_as_plain_steps()
    {
        var random = new Random(Seed.Next());
        for (int length = 0; length < 400; length++)
        {
            // Few different numbers give long runs of equal ones; the ends of the range test that numbers have no sign.
            uint range = (length % 3) switch { 0 => 5, 1 => 1000, _ => uint.MaxValue };
            uint[] sorted = [.. Enumerable.Range(0, length).Select(_ => (uint)random.NextInt64((long)range + 1)).Order()];
            foreach (uint value in sorted.SelectMany(number => new[] { number - 1, number, number + 1 }).Concat([0u, uint.MaxValue, 1u << 31]).Distinct())
            {
                int expected = sorted.TakeWhile(number => number < value).Count();
                Assert.Equal(expected, SortedSearch.LowerBoundScalar(sorted, value));
                Assert.Equal(expected, SortedSearch.LowerBound(sorted, value));
            }
        }
    }
}
