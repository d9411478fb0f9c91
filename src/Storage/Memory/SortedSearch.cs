using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Storage.Memory;

/// <summary>
/// Finds a place among sorted numbers. Halving has a branch that nobody can predict at each step; here the steps are without branches and
/// the last 32 numbers are compared at once.
/// </summary>
internal static class SortedSearch
{
    private const int Lanes = 8;
    private const int Window = 4 * Lanes;

    /// <summary>The index of the first number that is not below <paramref name="value"/>; the count if all are.</summary>
    public static int LowerBound(ReadOnlySpan<uint> sorted, uint value)
    {
        if (!Vector256.IsHardwareAccelerated || sorted.Length < Window)
            return LowerBoundScalar(sorted, value);

        ref uint start = ref MemoryMarshal.GetReference(sorted);
        int low = 0;
        for (int count = sorted.Length; count > Window;)
        {
            int half = count >>> 1;
            low += Unsafe.Add(ref start, low + half - 1) < value ? half : 0; // low + count stays at or below the length
            count -= half;
        }

        // All before low is below the value, so a window that begins earlier counts right too.
        low = Math.Min(low, sorted.Length - Window);
        Vector256<uint> wanted = Vector256.Create(value);
        uint below = Below(ref start, low, wanted)
            | (Below(ref start, low + Lanes, wanted) << Lanes)
            | (Below(ref start, low + (2 * Lanes), wanted) << (2 * Lanes))
            | (Below(ref start, low + (3 * Lanes), wanted) << (3 * Lanes));
        return low + BitOperations.PopCount(below);
    }

    /// <summary>The same in plain steps: for short lists, and processors without vectors.</summary>
    public static int LowerBoundScalar(ReadOnlySpan<uint> sorted, uint value)
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

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Below(ref uint start, int index, Vector256<uint> wanted) =>
        Vector256.LessThan(Vector256.LoadUnsafe(ref start, (nuint)index), wanted).ExtractMostSignificantBits();
}
