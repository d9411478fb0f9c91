using Treepie.Indexing.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

/// <summary>Both forms of what two lists of offsets have in common, against sets.</summary>
public sealed class OffsetKernelsTests
{
    private const int Padding = 15;

    [Fact]
    public void What_two_lists_have_in_common_is_found()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 3_000; round++)
        {
            int most = new[] { 20, 200, 4_096 }[random.Next(3)];
            ushort[] left = Offsets(random, most), right = Offsets(random, most);
            ushort[] expected = [.. left.Intersect(right)], common = new ushort[left.Length];

            // What lies behind the list is no part of it, be it in the other one.
            ushort[] padded =
                [.. left, .. Enumerable.Range(0, Padding).Select(i => right.Length == 0 ? (ushort)i : right[i % right.Length])];
            Assert.Equal(expected.Length, OffsetKernels.Intersect(padded, left.Length, right, common));
            Assert.Equal(expected, common[..expected.Length]);
            Array.Clear(common);
            Assert.Equal(expected.Length, OffsetKernels.IntersectScalar(left, right, common));
            Assert.Equal(expected, common[..expected.Length]);
        }
    }

    [Fact]
    public void Few_offsets_are_found_in_a_longer_list()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 3_000; round++)
        {
            int most = new[] { 20, 200, 4_096 }[random.Next(3)];
            ushort[] few = Offsets(random, most), others = Offsets(random, most);
            ushort[] expected = [.. few.Intersect(others)], byVectors = [.. few], byOne = [.. few];
            Assert.Equal(expected, byVectors[..OffsetKernels.FilterFew(byVectors, others)]);
            Assert.Equal(expected, byOne[..OffsetKernels.FilterFewScalar(byOne, others)]);
        }
    }

    [Fact]
    public void What_two_lists_of_few_have_in_common_is_found_whatever_lies_behind_them()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 5_000; round++)
        {
            int most = new[] { 20, 200, 4_096 }[random.Next(3)];
            ushort[] left = [.. Offsets(random, most).Take(OffsetKernels.Few)],
                right = [.. Offsets(random, most).Take(OffsetKernels.Few)];
            ushort[] expected = [.. left.Intersect(right)], common = new ushort[OffsetKernels.Few];
            ushort[] paddedLeft = [.. left, .. right, .. new ushort[OffsetKernels.Few]],
                paddedRight = [.. right, .. left, .. new ushort[OffsetKernels.Few]];
            Assert.Equal(expected.Length, OffsetKernels.IntersectFew(paddedLeft, left.Length, paddedRight, right.Length, common));
            Assert.Equal(expected, common[..expected.Length]);
        }
    }

    [Fact]
    public void Offsets_whose_bit_is_set_are_kept_where_they_are_and_elsewhere()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 1_000; round++)
        {
            ushort[] offsets = Offsets(random, 4_096), others = Offsets(random, 4_096), copied = new ushort[offsets.Length];
            ulong[] bits = new ulong[BitmapKernels.Words];
            BitmapKernels.Set(bits, others);
            ushort[] expected = [.. offsets.Intersect(others)];
            Assert.Equal(expected, copied[..OffsetKernels.Copy(offsets, bits, copied)]);
            ushort[] itself = [.. offsets];
            Assert.Equal(expected, itself[..OffsetKernels.Copy(itself, bits, itself)]);
            Assert.Equal(expected, offsets[..OffsetKernels.Filter(offsets, bits, wanted: true)]);
        }
    }

    private static ushort[] Offsets(Random random, int most)
    {
        int[] all = [.. Enumerable.Range(0, most)];
        random.Shuffle(all);
        return [
            .. all.Take(new[] { 0, 1, 15, 16, 17, random.Next(most + 1) }[random.Next(6)])
                .Where(offset => offset < most)
                .Order()
                .Select(offset => (ushort)offset)];
    }
}
