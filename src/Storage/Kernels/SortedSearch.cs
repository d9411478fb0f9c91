using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Storage.Kernels;

/// <summary>
/// Binary search in sorted numbers. A plain binary search has an unpredictable branch at each step; here the steps are
/// branchless and the last four vectors of numbers are compared at once. For any integer type: key heads, offsets, ids.
/// </summary>
internal static class SortedSearch
{
    /// <summary>The number of vectors compared at once.</summary>
    private const int Vectors = 4;

    /// <summary>
    /// Returns the index of the first number not below <paramref name="value"/>, or the length if there is none.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int LowerBound<T>(ReadOnlySpan<T> sorted, T value)
        where T : unmanaged, IBinaryInteger<T> =>
        Vector256.IsHardwareAccelerated && sorted.Length >= Vectors * Vector256<T>.Count
            ? LowerBound256(sorted, value)
            : LowerBoundScalar(sorted, value);

    /// <summary>
    /// Uses vectors of 32 bytes. Falls back to the scalar version if there are fewer numbers than four vectors hold.
    /// </summary>
    public static int LowerBound256<T>(ReadOnlySpan<T> sorted, T value)
        where T : unmanaged, IBinaryInteger<T>
    {
        int lanes = Vector256<T>.Count, window = Vectors * lanes;
        if (sorted.Length < window)
            return LowerBoundScalar(sorted, value);

        ref T start = ref MemoryMarshal.GetReference(sorted);
        int low = Halve(sorted, value, window);
        Vector256<T> wanted = Vector256.Create(value);
        return low
            + BitOperations.PopCount(Below(ref start, low, wanted))
            + BitOperations.PopCount(Below(ref start, low + lanes, wanted))
            + BitOperations.PopCount(Below(ref start, low + (2 * lanes), wanted))
            + BitOperations.PopCount(Below(ref start, low + (3 * lanes), wanted));
    }

    /// <summary>The scalar version, for short lists and processors without vectors.</summary>
    public static int LowerBoundScalar<T>(ReadOnlySpan<T> sorted, T value)
        where T : unmanaged, IBinaryInteger<T>
    {
        int low = 0, high = sorted.Length;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (sorted[middle] < value)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }

    /// <summary>
    /// Returns the start of the window for the final comparison: all numbers before it are below the value, none after it is.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int Halve<T>(ReadOnlySpan<T> sorted, T value, int window)
        where T : unmanaged, IBinaryInteger<T>
    {
        ref T start = ref MemoryMarshal.GetReference(sorted);
        int low = 0;
        for (int count = sorted.Length; count > window;)
        {
            int half = count >>> 1;
            low += Unsafe.Add(ref start, low + half - 1) < value ? half : 0; // low + count stays at or below the length
            count -= half;
        }

        // All numbers before low are below the value, so a window that starts earlier gives the same result.
        return Math.Min(low, sorted.Length - window);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Below<T>(ref T start, int index, Vector256<T> wanted)
        where T : unmanaged, IBinaryInteger<T> =>
        Vector256.LessThan(Vector256.LoadUnsafe(ref start, (nuint)index), wanted).ExtractMostSignificantBits();
}
