using System.Numerics;
using Treepie.Storage.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Kernels;

public sealed class SortedSearchTests
{
    [Fact]
    public void Every_form_finds_the_same_place_among_numbers_of_every_width()
    {
        Prove<uint>();
        Prove<ushort>();
        Prove<long>();
        Prove<ulong>();
    }

    private static void Prove<T>()
        where T : unmanaged, IBinaryInteger<T>, IMinMaxValue<T>
    {
        var random = new Random(Seed.Next());
        for (int length = 0; length < 300; length += length < 140 ? 1 : 13)
        {
            // Few distinct numbers give long runs of equal ones. The extremes of the range test signed and unsigned comparison.
            T[] sorted = [.. Enumerable.Range(0, length).Select(_ => Draw<T>(random, length % 3)).Order()];
            foreach (T value in sorted.SelectMany(number => new[] { number - T.One, number, number + T.One })
                .Concat([T.MinValue, T.Zero, T.MaxValue])
                .Distinct())
            {
                int expected = sorted.TakeWhile(number => number < value).Count();
                Assert.Equal(expected, SortedSearch.LowerBoundScalar<T>(sorted, value));
                Assert.Equal(expected, SortedSearch.LowerBound<T>(sorted, value));
                Assert.Equal(expected, SortedSearch.LowerBound256<T>(sorted, value));
            }
        }
    }

    private static T Draw<T>(Random random, int kind)
        where T : unmanaged, IBinaryInteger<T>, IMinMaxValue<T> => kind switch
        {
            0 => T.CreateTruncating(random.Next(5)),
            1 => T.CreateTruncating(random.Next(1000)),
            _ => random.Next(20) == 0
                ? T.MaxValue
                : random.Next(20) == 0 ? T.MinValue : T.CreateTruncating(random.NextInt64(long.MinValue, long.MaxValue)),
        };
}
