using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Storage.Kernels;

/// <summary>
/// Finds a place among sorted numbers. Halving has a branch that nobody can predict at each step; here the steps are without
/// branches and the last four vectors of numbers are compared at once. For any whole number: heads of keys, offsets, ids.
/// </summary>
internal static class SortedSearch
{
    /// <summary>Vectors compared at once.</summary>
    private const int Vectors = 4;

    /// <summary>The index of the first number that is not below <paramref name="value"/>; the count if all are.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int LowerBound<T>(ReadOnlySpan<T> sorted, T value)
        where T : unmanaged, IBinaryInteger<T> =>
        Vector256.IsHardwareAccelerated && sorted.Length >= Vectors * Vector256<T>.Count
            ? LowerBound256(sorted, value)
            : LowerBoundScalar(sorted, value);

    /// <summary>With vectors of 32 bytes. Lists shorter than four of them go in plain steps.</summary>
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

    /// <summary>In plain steps: for short lists, and processors without vectors.</summary>
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

    /// <summary>Where the window of the last comparison begins: all before it is below the value, all after it is not.</summary>
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

        // All before low is below the value, so a window that begins earlier counts right too.
        return Math.Min(low, sorted.Length - window);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Below<T>(ref T start, int index, Vector256<T> wanted)
        where T : unmanaged, IBinaryInteger<T> =>
        Vector256.LessThan(Vector256.LoadUnsafe(ref start, (nuint)index), wanted).ExtractMostSignificantBits();
}
