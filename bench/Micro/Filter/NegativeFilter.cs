using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using Treepie.Storage.Kernels;

namespace Treepie.Bench.Micro.Filter;

/// <summary>
/// Removes negative numbers (those marked as gone by their sign) from a list, in place and in order. What lies behind those kept
/// is undefined afterwards. Nothing is written before the first negative one. The speed of each form: suite <c>filter</c>.
/// </summary>
internal static class NegativeFilter
{
    /// <summary>Removes the negative ones with the widest form this processor has; returns how many stay.</summary>
    public static int Remove(Span<long> items) =>
        Avx512F.IsSupported ? RemoveAvx512(items)
        : Avx2.IsSupported ? RemoveAvx2(items)
        : RemoveScalar(items);

    /// <summary>One at a time, without a branch for what each one is.</summary>
    public static int RemoveScalar(Span<long> items) => RemoveFrom(items, 0, 0);

    /// <summary>Four at a time: a permute by the four signs.</summary>
    public static int RemoveAvx2(Span<long> items)
    {
        const int Lanes = 4;
        ref long start = ref MemoryMarshal.GetReference(items);
        int count = items.Length, from = 0;
        while (from <= count - (4 * Lanes) && Signs(ref start, from) == 0)
            from += 4 * Lanes;

        int kept = from;
        for (; from <= count - (2 * Lanes); from += 2 * Lanes)
        {
            // Both are read before either is written: the second write may reach into what the first left behind, never into what
            // comes.
            Vector256<long> first = Vector256.LoadUnsafe(ref start, (nuint)from),
                second = Vector256.LoadUnsafe(ref start, (nuint)(from + Lanes));
            uint dropFirst = first.ExtractMostSignificantBits(), dropSecond = second.ExtractMostSignificantBits();
            VectorCompress.Drop(first, dropFirst).StoreUnsafe(ref start, (nuint)kept);
            kept += Lanes - BitOperations.PopCount(dropFirst);
            VectorCompress.Drop(second, dropSecond).StoreUnsafe(ref start, (nuint)kept);
            kept += Lanes - BitOperations.PopCount(dropSecond);
        }

        return RemoveFrom(items, from, kept);
    }

    /// <summary>Eight at a time, by the instruction that is made for it.</summary>
    public static int RemoveAvx512(Span<long> items)
    {
        const int Lanes = 8;
        int count = items.Length;
        if (count < Lanes)
            return RemoveScalar(items);

        ref long start = ref MemoryMarshal.GetReference(items);
        int from = 0;
        while (from <= count - (4 * Lanes) && Signs512(ref start, from) == 0)
            from += 4 * Lanes;

        // The last eight, read before anything is written: of them the ones that no whole vector covers are left for the end.
        Vector512<long> last = Vector512.LoadUnsafe(ref start, (nuint)(count - Lanes));
        int kept = from;
        for (; from <= count - (4 * Lanes); from += 4 * Lanes)
        {
            Vector512<long> a = Vector512.LoadUnsafe(ref start, (nuint)from),
                b = Vector512.LoadUnsafe(ref start, (nuint)(from + Lanes));
            Vector512<long> c = Vector512.LoadUnsafe(ref start, (nuint)(from + (2 * Lanes))),
                d = Vector512.LoadUnsafe(ref start, (nuint)(from + (3 * Lanes)));
            kept += Compress(a, ref start, kept);
            kept += Compress(b, ref start, kept);
            kept += Compress(c, ref start, kept);
            kept += Compress(d, ref start, kept);
        }

        for (; from <= count - Lanes; from += Lanes)
            kept += Compress(Vector512.LoadUnsafe(ref start, (nuint)from), ref start, kept);

        int rest = count - from;
        if (kept == from && last.ExtractMostSignificantBits() >> (Lanes - rest) == 0)
            return count; // nothing was removed, so all of it is in its place
        return rest == 0 ? kept : kept + CompressLast(last, rest, items[kept..]);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int Compress(Vector512<long> lanes, ref long start, int kept)
    {
        Vector512<long> stays = Vector512.GreaterThanOrEqual(lanes, Vector512<long>.Zero); // one mask for both
        Avx512F.Compress(Vector512<long>.Zero, stays, lanes).StoreUnsafe(ref start, (nuint)kept);
        return BitOperations.PopCount((uint)stays.ExtractMostSignificantBits());
    }

    /// <summary>The last few of a vector, up to seven.</summary>
    private static int CompressLast(Vector512<long> lanes, int rest, Span<long> destination)
    {
        Vector512<long> isRest = Vector512.GreaterThanOrEqual(
            Vector512<long>.Indices, Vector512.Create((long)(Vector512<long>.Count - rest)));
        Vector512<long> stays = Vector512.GreaterThanOrEqual(lanes, Vector512<long>.Zero) & isRest;
        Vector512<long> packed = Avx512F.Compress(Vector512<long>.Zero, stays, lanes);
        int count = BitOperations.PopCount((uint)stays.ExtractMostSignificantBits());
        if (destination.Length >= Vector512<long>.Count)
        {
            packed.StoreUnsafe(ref MemoryMarshal.GetReference(destination));
            return count;
        }

        StoreFew(packed, count, ref MemoryMarshal.GetReference(destination));
        return count;
    }

    /// <summary>The first <paramref name="count"/> lanes, up to seven: four, two and one of them as there are.</summary>
    private static void StoreFew(Vector512<long> lanes, int count, ref long destination)
    {
        Vector256<long> half = lanes.GetLower();
        nuint at = 0;
        if ((count & 4) != 0)
        {
            half.StoreUnsafe(ref destination);
            half = lanes.GetUpper();
            at = 4;
        }

        Vector128<long> quarter = half.GetLower();
        if ((count & 2) != 0)
        {
            quarter.StoreUnsafe(ref destination, at);
            quarter = half.GetUpper();
            at += 2;
        }

        if ((count & 1) != 0)
            Unsafe.Add(ref destination, at) = quarter.ToScalar();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Signs(ref long start, int from) =>
        (Vector256.LoadUnsafe(ref start, (nuint)from) | Vector256.LoadUnsafe(ref start, (nuint)(from + 4))
            | Vector256.LoadUnsafe(ref start, (nuint)(from + 8))
            | Vector256.LoadUnsafe(ref start, (nuint)(from + 12))).ExtractMostSignificantBits();

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Signs512(ref long start, int from) =>
        (uint)(Vector512.LoadUnsafe(ref start, (nuint)from) | Vector512.LoadUnsafe(ref start, (nuint)(from + 8))
            | Vector512.LoadUnsafe(ref start, (nuint)(from + 16))
            | Vector512.LoadUnsafe(ref start, (nuint)(from + 24))).ExtractMostSignificantBits();

    private static int RemoveFrom(Span<long> items, int from, int kept)
    {
        for (int i = from; i < items.Length; i++)
        {
            long item = items[i];
            items[kept] = item;
            kept += (int)(~item >>> 63);
        }

        return kept;
    }
}
