using Treepie.Indexing.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

public sealed class StartKernelsTests
{
    [Fact]
    public void Sums_by_vector_are_those_of_one_frequency_after_the_other()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 300; round++)
        {
            int count = random.Next(1, 300), oneIn = random.Next(1, 6);
            byte[] frequencies =
                [.. Enumerable.Range(0, count).Select(_ => (byte)(random.Next(oneIn) == 0 ? random.Next(1, 16) : 1))];
            byte[] halves = Halves(frequencies), plane = new byte[(count + 7) / 8];
            for (int i = 0; i < count; i++)
                plane[i >> 3] |= (byte)((frequencies[i] > 1 ? 1 : 0) << (i & 7));
            byte[] above = Halves([.. frequencies.Where(frequency => frequency > 1)]);

            ushort[] expected = new ushort[count + StartKernels.Room], starts = new ushort[count + StartKernels.Room];
            for (int i = 0; i < count; i++)
                expected[i + 1] = (ushort)(expected[i] + frequencies[i]);
            ushort[] wanted = expected[..(count + 1)];

            StartKernels.AddBytes(frequencies, count, starts);
            Assert.Equal(wanted, starts[..(count + 1)]);
            StartKernels.AddHalves(halves, count, starts);
            Assert.Equal(wanted, starts[..(count + 1)]);
            StartKernels.AddPlane(plane, above, count, starts);
            Assert.Equal(wanted, starts[..(count + 1)]);

            StartKernels.AddBytesScalar(frequencies, 0, count, starts);
            Assert.Equal(wanted, starts[..(count + 1)]);
            StartKernels.AddHalvesScalar(halves, 0, count, starts);
            Assert.Equal(wanted, starts[..(count + 1)]);
            StartKernels.AddPlaneScalar(plane, above, 0, 0, count, starts);
            Assert.Equal(wanted, starts[..(count + 1)]);
            StartKernels.Count(count, starts);

            int[] groups = new int[(count >> 4) + 2], scalarGroups = new int[(count >> 4) + 2];
            Assert.Equal(expected[count], StartKernels.AddGroups(halves, groups));
            Assert.Equal(expected[count], StartKernels.AddGroupsScalar(halves, 0, 0, scalarGroups));
            for (int group = 0; group <= count >> 4; group++)
                Assert.Equal((expected[group << 4], expected[group << 4]), (groups[group], scalarGroups[group]));
            Assert.Equal(count, starts[count]);
        }
    }

    [Fact]
    public void A_sum_of_bytes_by_vector_is_that_of_one_after_the_other()
    {
        var random = new Random(Seed.Next());
        byte[] values = new byte[32];
        for (int round = 0; round < 300; round++)
        {
            random.NextBytes(values);
            int count = random.Next(17);
            ReadOnlySpan<byte> some = values.AsSpan(random.Next(32 - count + 1));
            Assert.Equal(StartKernels.SumOfBytesScalar(some, count), StartKernels.SumOfBytes(some, count));
        }
    }

    private static byte[] Halves(byte[] values)
    {
        byte[] halves = new byte[(values.Length + 1) / 2];
        for (int i = 0; i < values.Length; i++)
            halves[i >> 1] |= (byte)(values[i] << ((i & 1) * 4));
        return halves;
    }
}
