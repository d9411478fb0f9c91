using System.Numerics;
using System.Runtime.Intrinsics.X86;
using Treepie.Storage.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Kernels;

public sealed class SortedSetsTests
{
    private delegate int FilterForm<T>(Span<T> left, ReadOnlySpan<T> right, bool wanted);

    private delegate int UnionForm(ReadOnlySpan<long> left, ReadOnlySpan<long> right, Span<long> destination);

    [Fact]
    public void Scalar_forms_give_intersection_and_difference()
    {
        Prove<long>(SortedSets.FilterScalar, Longs);
        Prove<ushort>(SortedSets.FilterScalar, Offsets);
    }

    [Fact]
    public void Seeking_gives_intersection_and_difference()
    {
        Prove<long>(SortedSets.FilterSeeking, Longs);
        Prove<ushort>(SortedSets.FilterSeeking, Offsets);
    }

    [Fact]
    public void The_forms_that_are_chosen_give_intersection_and_difference()
    {
        Prove<long>(SortedSets.Filter, Longs);
        Prove<ushort>(SortedSets.Filter, Offsets);
    }

    [Fact]
    public void Forms_for_AVX2_give_intersection_and_difference()
    {
        Assert.SkipUnless(Avx2.IsSupported, "This processor has no AVX2.");
        Prove<long>(SortedSets.FilterAvx2, Longs);
        Prove<ushort>(SortedSets.FilterAvx2, Offsets);
    }

    [Fact]
    public void Forms_for_AVX_512_give_intersection_and_difference()
    {
        Assert.SkipUnless(Avx512Vbmi2.IsSupported, "This processor has no AVX-512 with VBMI2.");
        Prove<long>(SortedSets.FilterAvx512, Longs);
        Prove<ushort>(SortedSets.FilterAvx512, Offsets);
    }

    [Fact]
    public void Every_form_gives_the_union()
    {
        Prove(SortedUnion.Scalar);
        Prove(SortedSets.Union);
        if (Avx2.IsSupported)
            Prove(SortedUnion.Avx2);
        if (Avx512F.IsSupported)
            Prove(SortedUnion.Avx512);
        Assert.SkipUnless(Avx512F.IsSupported, "This processor has no AVX-512: the other forms are equal.");
    }

    private static void Prove<T>(FilterForm<T> form, Func<Random, int, int, T[]> draw)
        where T : unmanaged, IBinaryInteger<T>
    {
        foreach ((T[] left, T[] right) in Pairs(draw))
        {
            foreach (bool wanted in (ReadOnlySpan<bool>)[true, false])
            {
                var members = new HashSet<T>(right);
                T[] expected = [.. left.Where(item => members.Contains(item) == wanted)];
                T[] room = [.. left, T.One]; // the last element must not change
                int kept = form(room.AsSpan(0, left.Length), right, wanted);
                Assert.True(room.AsSpan(0, kept).SequenceEqual(expected), $"{left.Length} against {right.Length}, {wanted}");
                Assert.Equal(T.One, room[^1]);
            }
        }
    }

    private static void Prove(UnionForm form)
    {
        foreach ((long[] left, long[] right) in Pairs(Longs))
        {
            long[] room = [.. Enumerable.Repeat(5L, left.Length + right.Length + 1)];
            int count = form(left, right, room.AsSpan(0, room.Length - 1));
            Assert.True(
                room.AsSpan(0, count).SequenceEqual(left.Union(right).Order().ToArray()), $"{left.Length} and {right.Length}");
            Assert.Equal(5, room[^1]);
        }
    }

    /// <summary>
    /// Sets of every small length combined, dense and sparse, then equal, disjoint, interleaved and contained ones.
    /// </summary>
    private static IEnumerable<(T[] Left, T[] Right)> Pairs<T>(Func<Random, int, int, T[]> draw)
        where T : unmanaged, IBinaryInteger<T>
    {
        var random = new Random(Seed.Next());
        for (int left = 0; left < 40; left += 1 + (left / 20))
            for (int right = 0; right < 40; right += 1 + (right / 12))
                yield return (draw(random, left, 50 + random.Next(100)), draw(random, right, 50 + random.Next(100)));
        for (int i = 0; i < 200; i++)
            yield return (draw(random, random.Next(600), 1000), draw(random, random.Next(600), 1000));
        for (int i = 0; i < 20; i++)
            yield return (draw(random, random.Next(20), 60_000), draw(random, 3000, 60_000));

        T[] all = draw(random, 300, 60_000);
        yield return (all, all);
        yield return (all, [.. all.Where((_, i) => i % 2 == 0)]);
        yield return ([.. all.Where((_, i) => i % 2 == 0)], [.. all.Where((_, i) => i % 2 != 0)]);
        yield return ([.. all[..150]], [.. all[150..]]);
        yield return ([.. all[150..]], [.. all[..150]]);
        yield return (all, []);
        yield return ([], all);
    }

    private static long[] Longs(Random random, int count, int range)
    {
        var set = new SortedSet<long>();
        while (set.Count < Math.Min(count, range))
            set.Add(random.Next(range));
        if (random.Next(4) == 0 && count > 2)
        {
            set.Add(long.MinValue);
            set.Add(long.MaxValue);
            set.Add(-1);
        }

        return [.. set];
    }

    private static ushort[] Offsets(Random random, int count, int range)
    {
        var set = new SortedSet<ushort>();
        while (set.Count < Math.Min(count, range))
            set.Add((ushort)(random.Next(8) == 0 ? ushort.MaxValue - random.Next(range) : random.Next(range)));
        return [.. set];
    }
}
