using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Loops over the upper bounds of the scores in the 64 blocks of a window. Each vector form has a scalar twin.
/// </summary>
internal static class BoundKernels
{
    /// <summary>Blocks of a window.</summary>
    public const int Blocks = 64;

    /// <summary>
    /// Writes the indexes of the greatest bounds, descending, the first of equal ones first; negative bounds are ignored.
    /// Returns the number of indexes written.
    /// </summary>
    public static int TakeBest(ReadOnlySpan<float> bounds, Span<int> best)
    {
        Debug.Assert(!best.IsEmpty, "something is taken");
        int count = 0;
        for (int i = 0; i < bounds.Length; i++)
        {
            float bound = bounds[i];
            if (bound < 0 || (count == best.Length && bound <= bounds[best[count - 1]]))
                continue;
            count = Math.Min(count + 1, best.Length);
            InsertionSort.Insert(best[..count], i, new DescendingBounds(bounds));
        }

        return count;
    }

    /// <summary>Number of lanes of <see cref="BestOfLanes"/>.</summary>
    public const int Lanes = 16;

    /// <summary>
    /// Writes the index of the greatest bound of each lane, or the first of equal ones; bound i belongs to lane i mod 16. So
    /// the greatest bound of all and others among the greatest are found without sorting. Returns the number of indexes
    /// written.
    /// </summary>
    public static int BestOfLanes(ReadOnlySpan<float> bounds, Span<int> best)
    {
        Debug.Assert(best.Length >= Math.Min(bounds.Length, Lanes), "each lane gets a place");
        if (!Vector256.IsHardwareAccelerated || bounds.Length < Lanes)
            return BestOfLanesScalar(bounds, best);

        const int Half = Lanes / 2;
        ref float source = ref MemoryMarshal.GetReference(bounds);
        ref int target = ref MemoryMarshal.GetReference(best[..Lanes]);
        Vector256<float> low = Vector256.LoadUnsafe(ref source), high = Vector256.LoadUnsafe(ref source, Half);
        Vector256<int> lowAt = Vector256<int>.Indices, highAt = lowAt + Vector256.Create(Half), at = lowAt;
        int i = Lanes;
        for (; i <= bounds.Length - Lanes; i += Lanes)
        {
            at += Vector256.Create(Lanes);
            Vector256<float> mine = Vector256.LoadUnsafe(ref source, (nuint)i),
                others = Vector256.LoadUnsafe(ref source, (nuint)(i + Half));
            lowAt = Vector256.ConditionalSelect(Vector256.GreaterThan(mine, low).AsInt32(), at, lowAt);
            highAt = Vector256.ConditionalSelect(
                Vector256.GreaterThan(others, high).AsInt32(), at + Vector256.Create(Half), highAt);
            low = Vector256.Max(mine, low);
            high = Vector256.Max(others, high);
        }

        lowAt.StoreUnsafe(ref target);
        highAt.StoreUnsafe(ref target, Half);
        for (; i < bounds.Length; i++)
            best[i % Lanes] = bounds[i] > bounds[best[i % Lanes]] ? i : best[i % Lanes];
        return Lanes;
    }

    /// <summary>The scalar twin of <see cref="BestOfLanes"/>.</summary>
    public static int BestOfLanesScalar(ReadOnlySpan<float> bounds, Span<int> best)
    {
        for (int i = 0; i < bounds.Length; i++)
        {
            if (i < Lanes || bounds[i] > bounds[best[i % Lanes]])
                best[i % Lanes] = i;
        }

        return Math.Min(bounds.Length, Lanes);
    }

    /// <summary>
    /// Writes the indexes of bounds that are not below <paramref name="least"/>, ascending; returns their number.
    /// </summary>
    public static int CopyReaching(ReadOnlySpan<float> bounds, float least, Span<int> places)
    {
        Debug.Assert(!float.IsNaN(least), "a threshold has an order");
        int count = 0, i = 0;
        if (Vector256.IsHardwareAccelerated)
        {
            Vector256<float> limit = Vector256.Create(least);
            ref float source = ref MemoryMarshal.GetReference(bounds);
            for (; i <= bounds.Length - Vector256<float>.Count; i += Vector256<float>.Count)
            {
                uint below = Vector256.LessThan(Vector256.LoadUnsafe(ref source, (nuint)i), limit).ExtractMostSignificantBits();
                for (uint left = below ^ byte.MaxValue; left != 0; left &= left - 1)
                    places[count++] = i + BitOperations.TrailingZeroCount(left);
            }
        }

        for (; i < bounds.Length; i++)
        {
            if (!(bounds[i] < least))
                places[count++] = i;
        }

        return count;
    }

    /// <summary>Adds each byte, converted to a number and multiplied by <paramref name="unit"/>, to a bound.</summary>
    public static void AddSpread(ReadOnlySpan<byte> impacts, float unit, Span<float> bounds)
    {
        Debug.Assert(impacts.Length == Blocks && bounds.Length == Blocks);
        if (!Vector256.IsHardwareAccelerated)
        {
            AddSpreadScalar(impacts, unit, bounds);
            return;
        }

        ref byte source = ref MemoryMarshal.GetReference(impacts);
        ref float target = ref MemoryMarshal.GetReference(bounds);
        Vector256<float> factor = Vector256.Create(unit);
        for (nuint i = 0; i < Blocks; i += 8)
        {
            Vector128<byte> eight = Vector128.CreateScalarUnsafe(Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref source, i)))
                .AsByte();
            Vector256<uint> wide = Vector256.WidenLower(Vector128.WidenLower(eight).ToVector256Unsafe());
            (Vector256.LoadUnsafe(ref target, i) + (Vector256.ConvertToSingle(wide.AsInt32()) * factor)).StoreUnsafe(
                ref target, i);
        }
    }

    /// <summary>The scalar twin of <see cref="AddSpread"/>.</summary>
    public static void AddSpreadScalar(ReadOnlySpan<byte> impacts, float unit, Span<float> bounds)
    {
        Debug.Assert(impacts.Length == Blocks && bounds.Length == Blocks, "each block has a bound");
        for (int i = 0; i < Blocks; i++)
            bounds[i] += impacts[i] * unit;
    }

    /// <summary>The largest byte. Usually of 64 bytes, but any number is possible.</summary>
    public static byte Largest(ReadOnlySpan<byte> impacts)
    {
        if (!Vector256.IsHardwareAccelerated || impacts.Length != Blocks)
            return LargestScalar(impacts);

        ref byte source = ref MemoryMarshal.GetReference(impacts);
        Vector256<byte> two = Vector256.Max(
            Vector256.LoadUnsafe(ref source), Vector256.LoadUnsafe(ref source, (nuint)Vector256<byte>.Count));
        Vector128<byte> most = Vector128.Max(two.GetLower(), two.GetUpper());
        most = Vector128.Max(most, (most.AsUInt64() >>> 32).AsByte());
        most = Vector128.Max(most, (most.AsUInt32() >>> 16).AsByte());
        most = Vector128.Max(most, (most.AsUInt16() >>> 8).AsByte());
        return Math.Max(most[0], most[8]);
    }

    /// <summary>The scalar twin of <see cref="Largest(ReadOnlySpan{byte})"/>.</summary>
    public static byte LargestScalar(ReadOnlySpan<byte> impacts)
    {
        byte most = 0;
        foreach (byte impact in impacts)
            most = Math.Max(most, impact);
        return most;
    }

    /// <summary>
    /// Clears the words of those blocks whose bound, multiplied by <paramref name="margin"/>, is below a threshold.
    /// </summary>
    public static void Narrow(Span<ulong> hits, ReadOnlySpan<float> bounds, float threshold, float margin)
    {
        Debug.Assert(hits.Length == Blocks && bounds.Length == Blocks);
        if (!Vector256.IsHardwareAccelerated)
        {
            NarrowScalar(hits, bounds, threshold, margin);
            return;
        }

        ref ulong target = ref MemoryMarshal.GetReference(hits);
        ref float source = ref MemoryMarshal.GetReference(bounds);
        Vector256<float> least = Vector256.Create(threshold), factor = Vector256.Create(margin);
        for (nuint i = 0; i < Blocks; i += 8)
        {
            Vector256<int> stays = Vector256.GreaterThanOrEqual(Vector256.LoadUnsafe(ref source, i) * factor, least).AsInt32();
            (Vector256<long> low, Vector256<long> high) = Vector256.Widen(stays); // widens each all-ones int to an all-ones long
            (Vector256.LoadUnsafe(ref target, i) & low.AsUInt64()).StoreUnsafe(ref target, i);
            (Vector256.LoadUnsafe(ref target, i + 4) & high.AsUInt64()).StoreUnsafe(ref target, i + 4);
        }
    }

    /// <summary>The scalar twin of <see cref="Narrow"/>.</summary>
    public static void NarrowScalar(Span<ulong> hits, ReadOnlySpan<float> bounds, float threshold, float margin)
    {
        Debug.Assert(hits.Length == Blocks && bounds.Length == Blocks, "each block has a bound");
        for (int i = 0; i < Blocks; i++)
            hits[i] = bounds[i] * margin >= threshold ? hits[i] : 0;
    }

    /// <summary>Returns a bit for each block, set if the block has hits.</summary>
    public static ulong NotEmpty(ReadOnlySpan<ulong> hits)
    {
        Debug.Assert(hits.Length == Blocks);
        if (!Vector256.IsHardwareAccelerated)
            return NotEmptyScalar(hits);

        ref ulong source = ref MemoryMarshal.GetReference(hits);
        ulong empty = 0;
        for (int i = 0; i < Blocks; i += 4)
            empty |= (ulong)Vector256.Equals(Vector256.LoadUnsafe(ref source, (nuint)i), Vector256<ulong>.Zero)
                .ExtractMostSignificantBits() << i;
        return ~empty;
    }

    /// <summary>The scalar twin of <see cref="NotEmpty"/>.</summary>
    public static ulong NotEmptyScalar(ReadOnlySpan<ulong> hits)
    {
        Debug.Assert(hits.Length == Blocks, "each block has a word");
        ulong blocks = 0;
        for (int i = 0; i < Blocks; i++)
            blocks |= (hits[i] != 0 ? 1UL : 0) << i;
        return blocks;
    }

    /// <summary>
    /// Returns a bit for each block in which the sum minus one of its parts is below a threshold. The sum is multiplied by
    /// the margin before the subtraction, so that the margin covers its rounding error even if hardly anything of the sum
    /// remains.
    /// </summary>
    public static ulong Below(ReadOnlySpan<float> sums, ReadOnlySpan<float> parts, float threshold, float margin)
    {
        Debug.Assert(sums.Length == Blocks && parts.Length == Blocks);
        if (!Vector256.IsHardwareAccelerated)
            return BelowScalar(sums, parts, threshold, margin);

        ref float first = ref MemoryMarshal.GetReference(sums);
        ref float second = ref MemoryMarshal.GetReference(parts);
        Vector256<float> most = Vector256.Create(threshold), factor = Vector256.Create(margin);
        ulong blocks = 0;
        for (int i = 0; i < Blocks; i += 8)
        {
            Vector256<float> rest = (Vector256.LoadUnsafe(ref first, (nuint)i) * factor)
                - Vector256.LoadUnsafe(ref second, (nuint)i);
            blocks |= (ulong)Vector256.LessThan(rest, most).ExtractMostSignificantBits() << i;
        }

        return blocks;
    }

    /// <summary>The scalar twin of <see cref="Below"/>.</summary>
    public static ulong BelowScalar(ReadOnlySpan<float> sums, ReadOnlySpan<float> parts, float threshold, float margin)
    {
        Debug.Assert(sums.Length == Blocks && parts.Length == Blocks, "each block has a bound");
        ulong blocks = 0;
        for (int i = 0; i < Blocks; i++)
            blocks |= ((sums[i] * margin) - parts[i] < threshold ? 1UL : 0) << i;
        return blocks;
    }

    /// <summary>Adds to each bound a part, multiplied by <paramref name="weight"/>.</summary>
    public static void AddScaled(Span<float> bounds, ReadOnlySpan<float> parts, float weight)
    {
        Debug.Assert(bounds.Length == Blocks && parts.Length == Blocks);
        if (!Vector256.IsHardwareAccelerated)
        {
            AddScaledScalar(bounds, parts, weight);
            return;
        }

        ref float target = ref MemoryMarshal.GetReference(bounds);
        ref float source = ref MemoryMarshal.GetReference(parts);
        Vector256<float> factor = Vector256.Create(weight);
        for (nuint i = 0; i < Blocks; i += 8)
            (Vector256.LoadUnsafe(ref target, i) + (Vector256.LoadUnsafe(ref source, i) * factor)).StoreUnsafe(ref target, i);
    }

    /// <summary>The scalar twin of <see cref="AddScaled"/>.</summary>
    public static void AddScaledScalar(Span<float> bounds, ReadOnlySpan<float> parts, float weight)
    {
        Debug.Assert(bounds.Length == Blocks && parts.Length == Blocks, "each block has a bound");
        for (int i = 0; i < Blocks; i++)
            bounds[i] += weight * parts[i];
    }

    /// <summary>The largest bound; bounds are not negative.</summary>
    public static float Largest(ReadOnlySpan<float> bounds)
    {
        Debug.Assert(bounds.Length == Blocks);
        if (!Vector256.IsHardwareAccelerated)
            return LargestScalar(bounds);

        ref float source = ref MemoryMarshal.GetReference(bounds);
        Vector256<float> largest = Vector256<float>.Zero;
        for (nuint i = 0; i < Blocks; i += 8)
            largest = Vector256.Max(largest, Vector256.LoadUnsafe(ref source, i));
        Vector128<float> four = Vector128.Max(largest.GetLower(), largest.GetUpper());
        return Math.Max(Math.Max(four[0], four[1]), Math.Max(four[2], four[3]));
    }

    /// <summary>The scalar twin of <see cref="Largest(ReadOnlySpan{float})"/>.</summary>
    public static float LargestScalar(ReadOnlySpan<float> bounds)
    {
        float most = 0;
        foreach (float bound in bounds)
            most = Math.Max(most, bound);
        return most;
    }

    /// <summary>Orders bounds, given by index, greatest first.</summary>
    private readonly ref struct DescendingBounds(ReadOnlySpan<float> bounds) : IItemOrder<int>
    {
        private readonly ReadOnlySpan<float> _bounds = bounds;

        public bool IsAfter(in int left, in int right) => _bounds[left] < _bounds[right];
    }
}
