using Treepie.Indexing.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

public sealed class LevelKernelsTests
{
    [Fact]
    public void Vector_forms_equal_their_scalar_twins()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 500; round++)
        {
            ushort[] levels = new ushort[LevelKernels.Blocks], expected = new ushort[LevelKernels.Blocks];
            for (int list = 0; list < 3; list++)
            {
                byte[] impacts = new byte[random.Next(4) == 0 ? 1 : LevelKernels.Blocks];
                random.NextBytes(impacts);
                ushort weight = (ushort)random.Next(1, LevelKernels.Greatest / 3);
                Assert.Equal(LevelKernels.AddScalar(impacts, weight, expected), LevelKernels.Add(impacts, weight, levels));
                Assert.Equal(expected, levels);
                Assert.Equal(levels.Max(), LevelKernels.AddScalar(new byte[1], 0, [.. levels]) - 1);
            }

            foreach (ushort least in new[]
            {
                (ushort)random.Next(1, ushort.MaxValue + 1), levels[random.Next(levels.Length)], levels.Max(), ushort.MaxValue,
                (ushort)1
            })
            {
                ushort[] before = [.. levels];
                Assert.Equal(
                    LevelKernels.TakeScalar(expected, least, out ushort left),
                    LevelKernels.Take(levels, least, out ushort greatest));
                Assert.Equal(expected, levels);
                Assert.Equal(left, greatest);
                Assert.Equal(levels.Max(), greatest);
                Assert.All(levels, level => Assert.True(level < least));
                Assert.Equal(before.Select(level => level >= least ? 0 : level), levels.Select(level => (int)level));
            }
        }
    }

    /// <summary>What a list adds is never less than its part of the sum, and hardly more.</summary>
    [Fact]
    public void A_level_is_what_it_stands_for_rounded_up()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 2_000; round++)
        {
            // a weight has 16 bits: a unit just below 256 would round up to one with 17
            double unit = random.NextDouble() * ushort.MaxValue / (1 << LevelKernels.FractionBits);
            byte impact = (byte)random.Next(256);
            ushort[] levels = new ushort[LevelKernels.Blocks];
            ushort level = LevelKernels.Add([impact], (ushort)Math.Ceiling(unit * (1 << LevelKernels.FractionBits)), levels);
            Assert.InRange(level, impact * unit, (impact * unit) + 2);
        }
    }
}
