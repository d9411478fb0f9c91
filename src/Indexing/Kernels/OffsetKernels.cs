using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Indexing.Kernels;

/// <summary>Loops over short ascending lists of 16-bit offsets within a window.</summary>
internal static class OffsetKernels
{
    /// <summary>Keeps the offsets whose bit equals <paramref name="wanted"/>, in place; returns how many stay.</summary>
    public static int Filter(Span<ushort> offsets, ReadOnlySpan<ulong> bits, bool wanted)
    {
        int kept = 0;
        ulong flip = wanted ? 0UL : 1UL;
        for (int i = 0; i < offsets.Length; i++)
        {
            // Written always, counted only if kept: no branch to mispredict.
            ushort offset = offsets[i];
            offsets[kept] = offset;
            kept += (int)(((bits[offset >> 6] >> (offset & 63)) & 1) ^ flip);
        }

        return kept;
    }

    /// <summary>
    /// Unites a list with another one in place: the first <paramref name="count"/> of <paramref name="offsets"/>, which has room for both, and those of <paramref name="others"/>. Returns how many there are.
    /// </summary>
    public static int Unite(Span<ushort> offsets, int count, ReadOnlySpan<ushort> others)
    {
        // From the end, so that nothing is overwritten before it is read; what both have leaves a gap in front.
        int left = count - 1, right = others.Length - 1, place = count + others.Length;
        int end = place;
        while (right >= 0)
        {
            ushort mine = left >= 0 ? offsets[left] : ushort.MinValue, other = others[right];
            bool takesMine = left >= 0 && mine >= other;
            right -= !takesMine || mine == other ? 1 : 0;
            left -= takesMine ? 1 : 0;
            offsets[--place] = takesMine ? mine : other;
        }

        int first = left + 1; // those in front are where they were
        if (place > first)
            offsets[place..end].CopyTo(offsets[first..]);
        return first + end - place;
    }

    /// <summary>Keeps the offsets in blocks of 64 whose bound, multiplied, reaches a threshold, in place; returns how many stay.</summary>
    public static int Narrow(Span<ushort> offsets, ReadOnlySpan<float> bounds, float threshold, float margin)
    {
        int kept = 0;
        foreach (ushort offset in offsets)
        {
            offsets[kept] = offset;
            kept += bounds[offset >> 6] * margin >= threshold ? 1 : 0;
        }

        return kept;
    }

    /// <summary>Position of the first offset that is not smaller than <paramref name="value"/>.</summary>
    public static int LowerBound(ReadOnlySpan<ushort> offsets, ushort value)
    {
        if (!Vector256.IsHardwareAccelerated || offsets.Length < Vector256<ushort>.Count)
            return LowerBoundScalar(offsets, value);

        // The list is ascending, so the number of smaller ones is the position; lists are at most 127 long.
        Vector256<ushort> limit = Vector256.Create(value);
        ref ushort start = ref MemoryMarshal.GetReference(offsets);
        int smaller = 0;
        int i = 0;
        for (; i <= offsets.Length - Vector256<ushort>.Count; i += Vector256<ushort>.Count)
        {
            uint mask = Vector256.LessThan(Vector256.LoadUnsafe(ref start, (nuint)i), limit).ExtractMostSignificantBits();
            smaller += System.Numerics.BitOperations.PopCount(mask);
            if (mask != ushort.MaxValue)
                return smaller;
        }

        return smaller + LowerBoundScalar(offsets[i..], value);
    }

    /// <summary>The scalar twin of <see cref="LowerBound"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int LowerBoundScalar(ReadOnlySpan<ushort> offsets, ushort value)
    {
        int i = 0;
        while (i < offsets.Length && offsets[i] < value)
            i++;
        return i;
    }
}
