using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using X86 = System.Runtime.Intrinsics.X86;

namespace Treepie.Storage.Kernels;

/// <summary>
/// Merges two ascending sets without duplicates. The vector versions keep the greatest numbers so far in one vector, take the
/// next block from the set whose next number is smaller, and sort both vectors with a network of minima and maxima: the lower
/// half of the result is final, because no later number is smaller than the numbers in the vector were.
/// </summary>
internal static class SortedUnion
{
    /// <summary>Merges one number at a time, without a branch on the source of each.</summary>
    public static int Scalar(ReadOnlySpan<long> left, ReadOnlySpan<long> right, Span<long> destination)
    {
        int i = 0, j = 0, count = 0;
        while (i < left.Length && j < right.Length)
        {
            long a = left[i], b = right[j];
            destination[count++] = Math.Min(a, b);
            i += a <= b ? 1 : 0;
            j += b <= a ? 1 : 0;
        }

        ReadOnlySpan<long> rest = i < left.Length ? left[i..] : right[j..];
        rest.CopyTo(destination[count..]);
        return count + rest.Length;
    }

    /// <summary>Merges blocks of four.</summary>
    public static int Avx2(ReadOnlySpan<long> left, ReadOnlySpan<long> right, Span<long> destination)
    {
        const int Lanes = 4;
        if (left.Length < Lanes || right.Length < Lanes)
            return Scalar(left, right, destination);

        ref long to = ref MemoryMarshal.GetReference(destination);
        Vector256<long> low = Vector256.Create(left[..Lanes]), high = Vector256.Create(right[..Lanes]);
        Vector256<long> before = Vector256.Create(unchecked(Math.Min(left[0], right[0]) - 1)); // differs from the first number
        int i = Lanes, j = Lanes, count = 0;
        while (true)
        {
            Merge(ref low, ref high);
            Vector256<long> shifted = X86.Avx2.Blend(
                X86.Avx2.Permute4x64(low, 0x93).AsInt32(), X86.Avx2.Permute4x64(before, 0x93).AsInt32(), 3).AsInt64();
            uint repeated = Vector256.Equals(low, shifted).ExtractMostSignificantBits();
            VectorCompress.Drop(low, repeated).StoreUnsafe(ref to, (nuint)count);
            count += Lanes - BitOperations.PopCount(repeated);
            before = low;
            if (i > left.Length - Lanes || j > right.Length - Lanes)
                break;

            if (left[i] <= right[j])
            {
                low = Vector256.Create(left.Slice(i, Lanes));
                i += Lanes;
            }
            else
            {
                low = Vector256.Create(right.Slice(j, Lanes));
                j += Lanes;
            }
        }

        Span<long> held = stackalloc long[Lanes];
        high.CopyTo(held);
        return Finish(held, left[i..], right[j..], destination, count);
    }

    /// <summary>Merges blocks of eight.</summary>
    public static int Avx512(ReadOnlySpan<long> left, ReadOnlySpan<long> right, Span<long> destination)
    {
        const int Lanes = 8;
        if (left.Length < Lanes || right.Length < Lanes)
            return Scalar(left, right, destination);

        ref long to = ref MemoryMarshal.GetReference(destination);
        Vector512<long> low = Vector512.Create(left[..Lanes]), high = Vector512.Create(right[..Lanes]);
        Vector512<long> before = Vector512.Create(unchecked(Math.Min(left[0], right[0]) - 1)); // differs from the first number
        int i = Lanes, j = Lanes, count = 0;
        while (true)
        {
            Merge(ref low, ref high);
            Vector512<long> isNew = ~Vector512.Equals(low, X86.Avx512F.AlignRight64(low, before, 7));
            X86.Avx512F.Compress(Vector512<long>.Zero, isNew, low).StoreUnsafe(ref to, (nuint)count);
            count += BitOperations.PopCount((uint)isNew.ExtractMostSignificantBits());
            before = low;
            if (i > left.Length - Lanes || j > right.Length - Lanes)
                break;

            if (left[i] <= right[j])
            {
                low = Vector512.Create(left.Slice(i, Lanes));
                i += Lanes;
            }
            else
            {
                low = Vector512.Create(right.Slice(j, Lanes));
                j += Lanes;
            }
        }

        Span<long> held = stackalloc long[Lanes];
        high.CopyTo(held);
        return Finish(held, left[i..], right[j..], destination, count);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Merge(ref Vector256<long> low, ref Vector256<long> high)
    {
        Vector256<long> reversed = Vector256.Shuffle(high, Vector256.Create(3L, 2, 1, 0));
        Vector256<long> lower = Vector256.Min(low, reversed), upper = Vector256.Max(low, reversed);
        low = Sort(lower);
        high = Sort(upper);
    }

    /// <summary>Sorts a bitonic sequence: exchanges lanes two apart, then adjacent ones.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector256<long> Sort(Vector256<long> lanes)
    {
        Vector256<long> other = Vector256.Shuffle(lanes, Vector256.Create(2L, 3, 0, 1));
        lanes = Vector256.ConditionalSelect(
            Vector256.Create(-1L, -1, 0, 0), Vector256.Min(lanes, other), Vector256.Max(lanes, other));
        other = Vector256.Shuffle(lanes, Vector256.Create(1L, 0, 3, 2));
        return Vector256.ConditionalSelect(
            Vector256.Create(-1L, 0, -1, 0), Vector256.Min(lanes, other), Vector256.Max(lanes, other));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Merge(ref Vector512<long> low, ref Vector512<long> high)
    {
        Vector512<long> reversed = Vector512.Shuffle(high, Vector512.Create(7L, 6, 5, 4, 3, 2, 1, 0));
        Vector512<long> lower = Vector512.Min(low, reversed), upper = Vector512.Max(low, reversed);
        low = Sort(lower);
        high = Sort(upper);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector512<long> Sort(Vector512<long> lanes)
    {
        Vector512<long> other = Vector512.Shuffle(lanes, Vector512.Create(4L, 5, 6, 7, 0, 1, 2, 3));
        lanes = Vector512.ConditionalSelect(
            Vector512.Create(-1L, -1, -1, -1, 0, 0, 0, 0), Vector512.Min(lanes, other), Vector512.Max(lanes, other));
        other = Vector512.Shuffle(lanes, Vector512.Create(2L, 3, 0, 1, 6, 7, 4, 5));
        lanes = Vector512.ConditionalSelect(
            Vector512.Create(-1L, -1, 0, 0, -1, -1, 0, 0), Vector512.Min(lanes, other), Vector512.Max(lanes, other));
        other = Vector512.Shuffle(lanes, Vector512.Create(1L, 0, 3, 2, 5, 4, 7, 6));
        return Vector512.ConditionalSelect(
            Vector512.Create(-1L, 0, -1, 0, -1, 0, -1, 0), Vector512.Min(lanes, other), Vector512.Max(lanes, other));
    }

    /// <summary>
    /// Merges the rest: the numbers still in the vector (possibly with duplicates) and both tails, one of which is shorter
    /// than a vector.
    /// </summary>
    private static int Finish(
        ReadOnlySpan<long> held, ReadOnlySpan<long> left, ReadOnlySpan<long> right, Span<long> destination, int count)
    {
        int h = 0, i = 0, j = 0;
        while (h < held.Length)
        {
            long next = held[h];
            if (i < left.Length)
                next = Math.Min(next, left[i]);
            if (j < right.Length)
                next = Math.Min(next, right[j]);
            while (h < held.Length && held[h] == next)
                h++;
            if (i < left.Length && left[i] == next)
                i++;
            if (j < right.Length && right[j] == next)
                j++;
            if (count == 0 || destination[count - 1] != next)
                destination[count++] = next;
        }

        left = left[i..];
        right = right[j..];
        if (left.Length > 0 && count > 0 && left[0] == destination[count - 1])
            left = left[1..];
        if (right.Length > 0 && count > 0 && right[0] == destination[count - 1])
            right = right[1..];
        return count + Scalar(left, right, destination[count..]);
    }
}
