using System.Runtime.Intrinsics.X86;
using Treepie.Bench.Micro.Filter;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Kernels;

public sealed class NegativeFilterTests
{
    private delegate int Form(Span<long> items);

    [Fact]
    public void The_scalar_form_keeps_what_is_not_negative_in_order() => Prove(NegativeFilter.RemoveScalar);

    [Fact]
    public void The_form_that_is_chosen_keeps_what_is_not_negative_in_order() => Prove(NegativeFilter.Remove);

    [Fact]
    public void The_form_for_AVX2_keeps_what_is_not_negative_in_order()
    {
        Assert.SkipUnless(Avx2.IsSupported, "This processor has no AVX2.");
        Prove(NegativeFilter.RemoveAvx2);
    }

    [Fact]
    public void The_form_for_AVX_512_keeps_what_is_not_negative_in_order()
    {
        Assert.SkipUnless(Avx512F.IsSupported, "This processor has no AVX-512.");
        Prove(NegativeFilter.RemoveAvx512);
    }

    private static void Prove(Form form)
    {
        var random = new Random(Seed.Next());
        for (int length = 0; length < 100; length += 1 + (length / 40))
        {
            foreach (double share in (ReadOnlySpan<double>)[0, 0.005, 0.05, 0.15, 0.5, 0.95, 1])
                Compare(form, [.. Enumerable.Range(0, length).Select(_ => Draw(random, random.NextDouble() < share))]);

            // One negative number at every position, then one non-negative number.
            for (int place = 0; place < length; place++)
            {
                Compare(form, [.. Enumerable.Range(0, length).Select(i => i == place ? long.MinValue : i)]);
                Compare(form, [.. Enumerable.Range(0, length).Select(i => i == place ? long.MaxValue : -1L - i)]);
            }
        }

        Compare(form, [.. Enumerable.Range(0, 100_003).Select(_ => Draw(random, random.Next(20) == 0))]);
    }

    private static void Compare(Form form, long[] items)
    {
        // In the middle of a larger array, whose other elements must not change.
        const int Border = 16;
        long[] room = [.. Enumerable.Repeat(7L, Border), .. items, .. Enumerable.Repeat(-7L, Border)];
        int kept = form(room.AsSpan(Border, items.Length));
        Assert.True(room.AsSpan(Border, kept).SequenceEqual(items.Where(item => item >= 0).ToArray()), $"{items.Length} items");
        Assert.All(room[..Border], item => Assert.Equal(7, item));
        Assert.All(room[^Border..], item => Assert.Equal(-7, item));
    }

    private static long Draw(Random random, bool isNegative) => random.Next(10) switch
    {
        0 => isNegative ? long.MinValue : long.MaxValue,
        1 => isNegative ? -1 : 0,
        _ => isNegative ? ~random.NextInt64() : random.NextInt64(),
    };
}
