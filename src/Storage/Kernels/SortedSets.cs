using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Storage.Kernels;

/// <summary>
/// Operations on ascending sets of numbers without duplicates: intersection, difference and union. Intersection and
/// difference work in place on the left set; its contents after the numbers kept are undefined.
/// </summary>
/// <remarks>
/// The vector versions compare a block of the left set with every number of a block of the right one and then advance in the
/// set whose block ends first: one branch per block instead of one per number. If the right set is much longer, it is
/// searched with doubling steps instead.
/// </remarks>
internal static class SortedSets
{
    /// <summary>The ratio of lengths from which searching is faster than scanning.</summary>
    private const int SeekRatio = 32;

    /// <summary>Keeps the numbers that are in both sets. Returns their number.</summary>
    public static int Intersect(Span<long> left, ReadOnlySpan<long> right) => Filter(left, right, wanted: true);

    /// <inheritdoc cref="Intersect(Span{long}, ReadOnlySpan{long})"/>
    public static int Intersect(Span<ushort> left, ReadOnlySpan<ushort> right) => Filter(left, right, wanted: true);

    /// <summary>Keeps the numbers that are not in the right set. Returns their number.</summary>
    public static int Except(Span<long> left, ReadOnlySpan<long> right) => Filter(left, right, wanted: false);

    /// <inheritdoc cref="Except(Span{long}, ReadOnlySpan{long})"/>
    public static int Except(Span<ushort> left, ReadOnlySpan<ushort> right) => Filter(left, right, wanted: false);

    /// <summary>
    /// Writes the numbers of either set. Returns their number. The destination must have space for both sets and overlap
    /// neither.
    /// </summary>
    public static int Union(ReadOnlySpan<long> left, ReadOnlySpan<long> right, Span<long> destination) =>
        Avx512F.IsSupported ? SortedUnion.Avx512(left, right, destination)
        : Avx2.IsSupported ? SortedUnion.Avx2(left, right, destination)
        : SortedUnion.Scalar(left, right, destination);

    /// <summary>
    /// Keeps the numbers of the left set that are in the right one, or those that are not. Returns their number.
    /// </summary>
    public static int Filter(Span<long> left, ReadOnlySpan<long> right, bool wanted) =>
        left.Length < right.Length / SeekRatio ? FilterSeeking(left, right, wanted)
        : Avx512F.IsSupported ? FilterAvx512(left, right, wanted)
        : Avx2.IsSupported ? FilterAvx2(left, right, wanted)
        : FilterScalar<long>(left, right, wanted);

    /// <inheritdoc cref="Filter(Span{long}, ReadOnlySpan{long}, bool)"/>
    public static int Filter(Span<ushort> left, ReadOnlySpan<ushort> right, bool wanted) =>
        Avx512Vbmi2.IsSupported && left.Length >= Vector512<ushort>.Count && right.Length >= Vector512<ushort>.Count
            ? FilterAvx512(left, right, wanted)
            : Avx2.IsSupported && left.Length >= Vector256<ushort>.Count && right.Length >= Vector128<ushort>.Count
            ? FilterAvx2(left, right, wanted)
                : FilterScalar<ushort>(left, right, wanted);

    /// <summary>The scalar version.</summary>
    public static int FilterScalar<T>(Span<T> left, ReadOnlySpan<T> right, bool wanted)
        where T : unmanaged, IBinaryInteger<T>
    {
        int kept = 0, j = 0;
        for (int i = 0; i < left.Length; i++)
        {
            T item = left[i];
            while (j < right.Length && right[j] < item)
                j++;
            left[kept] = item;
            kept += (j < right.Length && right[j] == item) == wanted ? 1 : 0;
        }

        return kept;
    }

    /// <summary>
    /// For a right set that is much longer: searches each position from the last one on, with doubling steps.
    /// </summary>
    public static int FilterSeeking<T>(Span<T> left, ReadOnlySpan<T> right, bool wanted)
        where T : unmanaged, IBinaryInteger<T>
    {
        int kept = 0, at = 0;
        for (int i = 0; i < left.Length; i++)
        {
            T item = left[i];
            int step = 1, low = at;
            while (low + step < right.Length && right[low + step] < item)
            {
                low += step;
                step <<= 1;
            }

            at = low + SortedSearch.LowerBoundScalar(right[low..Math.Min(right.Length, low + step + 1)], item);
            left[kept] = item;
            kept += (at < right.Length && right[at] == item) == wanted ? 1 : 0;
        }

        return kept;
    }

    /// <summary>Compares blocks of four.</summary>
    public static int FilterAvx2(Span<long> left, ReadOnlySpan<long> right, bool wanted)
    {
        const int Lanes = 4;
        int i = 0, j = 0, kept = 0;
        uint found = 0, flip = wanted ? 0u : 0xF;
        if (left.Length >= Lanes && right.Length >= Lanes)
        {
            ref long first = ref MemoryMarshal.GetReference(left);
            ref long other = ref MemoryMarshal.GetReference(right);
            Vector256<long> block = Vector256.LoadUnsafe(ref first);
            long end = left[Lanes - 1];
            while (true)
            {
                for (int lane = 0; lane < Lanes; lane++)
                    found |= Vector256.Equals(block, Vector256.Create(Unsafe.Add(ref other, j + lane)))
                        .ExtractMostSignificantBits();
                long otherEnd = right[j + Lanes - 1];
                bool isOtherDone = otherEnd <= end;
                if (end <= otherEnd)
                {
                    uint stays = found ^ flip;
                    VectorCompress.Drop(block, stays ^ 0xF).StoreUnsafe(ref first, (nuint)kept);
                    kept += BitOperations.PopCount(stays);
                    i += Lanes;
                    found = 0;
                    if (i > left.Length - Lanes)
                        break;

                    block = Vector256.LoadUnsafe(ref first, (nuint)i);
                    end = left[i + Lanes - 1];
                }

                if (isOtherDone && (j += Lanes) > right.Length - Lanes)
                    break;
            }
        }

        return Finish(left, right, wanted, i, j, kept, found, Lanes);
    }

    /// <summary>Compares blocks of eight.</summary>
    public static int FilterAvx512(Span<long> left, ReadOnlySpan<long> right, bool wanted)
    {
        const int Lanes = 8;
        int i = 0, j = 0, kept = 0;
        uint found = 0, flip = wanted ? 0u : 0xFF;
        if (left.Length >= Lanes && right.Length >= Lanes)
        {
            ref long first = ref MemoryMarshal.GetReference(left);
            ref long other = ref MemoryMarshal.GetReference(right);
            Vector512<long> block = Vector512.LoadUnsafe(ref first);
            long end = left[Lanes - 1];
            while (true)
            {
                for (int lane = 0; lane < Lanes; lane++)
                    found |= (uint)Vector512.Equals(block, Vector512.Create(Unsafe.Add(ref other, j + lane)))
                        .ExtractMostSignificantBits();
                long otherEnd = right[j + Lanes - 1];
                bool isOtherDone = otherEnd <= end;
                if (end <= otherEnd)
                {
                    Vector512<long> stays = ~Vector512.Equals(
                        Vector512.Create((long)(found ^ flip)) & LaneBits, Vector512<long>.Zero);
                    Avx512F.Compress(Vector512<long>.Zero, stays, block).StoreUnsafe(ref first, (nuint)kept);
                    kept += BitOperations.PopCount(found ^ flip);
                    i += Lanes;
                    found = 0;
                    if (i > left.Length - Lanes)
                        break;

                    block = Vector512.LoadUnsafe(ref first, (nuint)i);
                    end = left[i + Lanes - 1];
                }

                if (isOtherDone && (j += Lanes) > right.Length - Lanes)
                    break;
            }
        }

        return Finish(left, right, wanted, i, j, kept, found, Lanes);
    }

    /// <summary>Compares blocks of sixteen with blocks of eight.</summary>
    public static int FilterAvx2(Span<ushort> left, ReadOnlySpan<ushort> right, bool wanted)
    {
        const int Lanes = 16, OtherLanes = 8;
        int i = 0, j = 0, kept = 0;
        uint found = 0, flip = wanted ? 0u : 0xFFFF;
        if (left.Length >= Lanes && right.Length >= OtherLanes)
        {
            ref ushort first = ref MemoryMarshal.GetReference(left);
            ref ushort other = ref MemoryMarshal.GetReference(right);
            Vector256<ushort> block = Vector256.LoadUnsafe(ref first);
            ushort end = left[Lanes - 1];
            while (true)
            {
                Vector256<ushort> equal = Vector256<ushort>.Zero;
                for (int lane = 0; lane < OtherLanes; lane++)
                    equal |= Vector256.Equals(block, Vector256.Create(Unsafe.Add(ref other, j + lane)));
                found |= equal.ExtractMostSignificantBits();
                ushort otherEnd = right[j + OtherLanes - 1];
                bool isOtherDone = otherEnd <= end;
                if (end <= otherEnd)
                {
                    kept += VectorCompress.Keep(block, found ^ flip, ref Unsafe.Add(ref first, kept));
                    i += Lanes;
                    found = 0;
                    if (i > left.Length - Lanes)
                        break;

                    block = Vector256.LoadUnsafe(ref first, (nuint)i);
                    end = left[i + Lanes - 1];
                }

                if (isOtherDone && (j += OtherLanes) > right.Length - OtherLanes)
                    break;
            }
        }

        return Finish(left, right, wanted, i, j, kept, found, Lanes);
    }

    /// <summary>Compares blocks of 32 with blocks of eight.</summary>
    public static int FilterAvx512(Span<ushort> left, ReadOnlySpan<ushort> right, bool wanted)
    {
        const int Lanes = 32, OtherLanes = 8;
        int i = 0, j = 0, kept = 0;
        uint found = 0, flip = wanted ? 0u : uint.MaxValue;
        if (left.Length >= Lanes && right.Length >= OtherLanes)
        {
            ref ushort first = ref MemoryMarshal.GetReference(left);
            ref ushort other = ref MemoryMarshal.GetReference(right);
            Vector512<ushort> block = Vector512.LoadUnsafe(ref first);
            ushort end = left[Lanes - 1];
            while (true)
            {
                for (int lane = 0; lane < OtherLanes; lane++)
                    found |= (uint)Vector512.Equals(block, Vector512.Create(Unsafe.Add(ref other, j + lane)))
                        .ExtractMostSignificantBits();
                ushort otherEnd = right[j + OtherLanes - 1];
                bool isOtherDone = otherEnd <= end;
                if (end <= otherEnd)
                {
                    // The 32 bits of the lower and the upper half are expanded to lane masks separately.
                    kept += Keep(block, found ^ flip, ref Unsafe.Add(ref first, kept));
                    i += Lanes;
                    found = 0;
                    if (i > left.Length - Lanes)
                        break;

                    block = Vector512.LoadUnsafe(ref first, (nuint)i);
                    end = left[i + Lanes - 1];
                }

                if (isOtherDone && (j += OtherLanes) > right.Length - OtherLanes)
                    break;
            }
        }

        return Finish(left, right, wanted, i, j, kept, found, Lanes);
    }

    private static Vector512<long> LaneBits => Vector512.Create(1L, 2, 4, 8, 16, 32, 64, 128);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int Keep(Vector512<ushort> block, uint kept, ref ushort destination)
    {
        Vector256<ushort> lower = Vector256.Create((ushort)kept), upper = Vector256.Create((ushort)(kept >> 16));
        Vector256<ushort> bits = Vector256.Create(
            (ushort)1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768);
        Vector512<ushort> stays = ~Vector512.Equals(Vector512.Create(lower & bits, upper & bits), Vector512<ushort>.Zero);
        Avx512Vbmi2.Compress(Vector512<ushort>.Zero, stays, block).StoreUnsafe(ref destination);
        return BitOperations.PopCount(kept);
    }

    /// <summary>
    /// Filters the rest, one number at a time. <paramref name="found"/> tells which numbers of the current block are known to
    /// be in the right set. That block is intact: only numbers kept from earlier blocks have been written, and they end
    /// before it.
    /// </summary>
    private static int Finish<T>(Span<T> left, ReadOnlySpan<T> right, bool wanted, int i, int j, int kept, uint found, int lanes)
        where T : unmanaged, IBinaryInteger<T>
    {
        int block = i + lanes;
        for (int at = i; at < left.Length; at++)
        {
            T item = left[at];
            while (j < right.Length && right[j] < item)
                j++;
            bool isFound = (j < right.Length && right[j] == item) || (at < block && (found >> (at - i) & 1) != 0);
            left[kept] = item;
            kept += isFound == wanted ? 1 : 0;
        }

        return kept;
    }
}
