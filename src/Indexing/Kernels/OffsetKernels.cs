using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Indexing.Kernels;

/// <summary>Loops over short ascending lists of 16-bit offsets within a window.</summary>
internal static class OffsetKernels
{
    /// <summary>Keeps, in place, the offsets whose bit equals <paramref name="wanted"/>; returns the number kept.</summary>
    public static int Filter(Span<ushort> offsets, ReadOnlySpan<ulong> bits, bool wanted)
    {
        Debug.Assert(bits.Length >= BitmapKernels.Words, "the bitmap is of a window");
        int kept = 0;
        ulong flip = wanted ? 0UL : 1UL;
        for (int i = 0; i < offsets.Length; i++)
        {
            // Always written, counted only if kept: no branch to mispredict.
            ushort offset = offsets[i];
            offsets[kept] = offset;
            kept += (int)(((bits[offset >> 6] >> (offset & 63)) & 1) ^ flip);
        }

        return kept;
    }

    /// <summary>Like <see cref="Filter"/>, but copies the offsets whose bit is set to another span.</summary>
    public static int Copy(ReadOnlySpan<ushort> offsets, ReadOnlySpan<ulong> bits, Span<ushort> kept)
    {
        int count = 0;
        ref ushort to = ref MemoryMarshal.GetReference(kept[..offsets.Length]);
        ref ulong words = ref MemoryMarshal.GetReference(bits[..BitmapKernels.Words]);
        foreach (ushort offset in offsets)
        {
            Unsafe.Add(ref to, count) = offset;
            count += (int)(Unsafe.Add(ref words, (offset >> 6) & (BitmapKernels.Words - 1)) >> (offset & 63)) & 1;
        }

        return count;
    }

    /// <summary>
    /// Keeps, in place, the offsets that a longer list also has; returns the number kept. Each is compared with those
    /// sixteen offsets of the other list among which it must be. Both lists ascend, so these are found in steps of sixteen.
    /// </summary>
    public static int FilterFew(Span<ushort> offsets, ReadOnlySpan<ushort> others)
    {
        const int Lanes = 16;
        if (!Vector256.IsHardwareAccelerated || others.Length < Lanes)
            return FilterFewScalar(offsets, others);

        ref ushort first = ref MemoryMarshal.GetReference(others);
        int kept = 0, at = 0, last = others.Length - Lanes;
        for (int i = 0; i < offsets.Length; i++)
        {
            ushort offset = offsets[i];
            while (at < last && others[at + Lanes - 1] < offset)
                at = Math.Min(at + Lanes, last);
            offsets[kept] = offset;
            kept += Vector256.EqualsAny(Vector256.LoadUnsafe(ref first, (nuint)at), Vector256.Create(offset)) ? 1 : 0;
        }

        return kept;
    }

    /// <summary>The scalar twin of <see cref="FilterFew"/>.</summary>
    public static int FilterFewScalar(Span<ushort> offsets, ReadOnlySpan<ushort> others)
    {
        int kept = 0, at = 0;
        for (int i = 0; i < offsets.Length; i++)
        {
            ushort offset = offsets[i];
            while (at < others.Length && others[at] < offset)
                at++;
            offsets[kept] = offset;
            kept += at < others.Length && others[at] == offset ? 1 : 0;
        }

        return kept;
    }

    /// <summary>
    /// Merges a list into another in place: the first <paramref name="count"/> offsets of <paramref name="offsets"/>, which
    /// has room for both, and those of <paramref name="others"/>. Returns the number of offsets in the union.
    /// </summary>
    public static int Unite(Span<ushort> offsets, int count, ReadOnlySpan<ushort> others)
    {
        Debug.Assert(count >= 0 && offsets.Length >= count + others.Length, "the buffer holds both lists");
        // From the end, so that nothing is overwritten before it is read; common offsets leave a gap at the front.
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

        int first = left + 1; // the offsets before it did not move
        if (place > first)
            offsets[place..end].CopyTo(offsets[first..]);
        return first + end - place;
    }

    /// <summary>
    /// Writes the intersection of two ascending lists, ascending; returns its length. Sixteen offsets of one list are compared
    /// with each offset of the other that can be among them.
    /// </summary>
    /// <param name="padded">The first list, followed by at least 15 offsets without meaning.</param>
    /// <param name="count">Number of its offsets.</param>
    /// <param name="others">The second list.</param>
    /// <param name="common">Receives the offsets that both have.</param>
    public static int Intersect(ReadOnlySpan<ushort> padded, int count, ReadOnlySpan<ushort> others, Span<ushort> common)
    {
        if (!Vector256.IsHardwareAccelerated)
            return IntersectScalar(padded[..count], others, common);

        const int Lanes = 16;
        ref ushort first = ref MemoryMarshal.GetReference(padded[..(((count + Lanes - 1) & -Lanes))]);
        int written = 0, next = 0;
        for (int i = 0; i < count; i += Lanes)
        {
            var block = Vector256.LoadUnsafe(ref first, (nuint)i);
            int last = Math.Min(Lanes, count - i) - 1;
            ushort end = padded[i + last];
            Vector256<ushort> equal = Vector256<ushort>.Zero;
            for (; next < others.Length && others[next] <= end; next++)
                equal |= Vector256.Equals(block, Vector256.Create(others[next]));
            uint found = equal.ExtractMostSignificantBits() & ((2u << last) - 1);
            for (; found != 0; found &= found - 1)
                common[written++] = padded[i + BitOperations.TrailingZeroCount(found)];
        }

        return written;
    }

    /// <summary>Most offsets of a list for <see cref="IntersectFew"/>, which may read this many of each list.</summary>
    public const int Few = 16;

    /// <summary>
    /// Like <see cref="Intersect"/>, for two lists of at most <see cref="Few"/> offsets, most of which have nothing in
    /// common. That is determined in steps of four, without branches that depend on the offsets.
    /// </summary>
    /// <param name="left">The first list, readable up to <see cref="Few"/> offsets, of which those after its own have no
    /// meaning.</param>
    /// <param name="leftCount">Number of its offsets.</param>
    /// <param name="right">The second list, preferably the shorter one, readable like <paramref name="left"/>.</param>
    /// <param name="rightCount">Number of its offsets.</param>
    /// <param name="common">Receives the offsets that both have.</param>
    public static int IntersectFew(
        ReadOnlySpan<ushort> left, int leftCount, ReadOnlySpan<ushort> right, int rightCount, Span<ushort> common)
    {
        Debug.Assert(leftCount <= Few && rightCount <= Few, "a vector holds each list");
        if (Vector256.IsHardwareAccelerated)
        {
            const int Step = 4;
            var block = Vector256.LoadUnsafe(ref MemoryMarshal.GetReference(left[..Few]));
            ref ushort others = ref MemoryMarshal.GetReference(right[..Few]);
            Vector256<ushort> equal = Vector256<ushort>.Zero;
            for (int i = 0; i < rightCount; i += Step)
            {
                equal |= Vector256.Equals(block, Vector256.Create(Unsafe.Add(ref others, i)))
                    | Vector256.Equals(block, Vector256.Create(Unsafe.Add(ref others, i + 1)));
                equal |= Vector256.Equals(block, Vector256.Create(Unsafe.Add(ref others, i + 2)))
                    | Vector256.Equals(block, Vector256.Create(Unsafe.Add(ref others, i + 3)));
            }

            if (equal == Vector256<ushort>.Zero)
                return 0;
        }

        // The offsets without meaning may have been equal as well.
        return IntersectScalar(left[..leftCount], right[..rightCount], common);
    }

    /// <summary>The scalar twin of <see cref="Intersect"/> and <see cref="IntersectFew"/>.</summary>
    public static int IntersectScalar(ReadOnlySpan<ushort> left, ReadOnlySpan<ushort> right, Span<ushort> common)
    {
        int written = 0;
        for (int i = 0, j = 0; i < left.Length && j < right.Length;)
        {
            if (left[i] == right[j])
                common[written++] = left[i];
            bool isLeftBehind = left[i] <= right[j], isRightBehind = right[j] <= left[i];
            i += isLeftBehind ? 1 : 0;
            j += isRightBehind ? 1 : 0;
        }

        return written;
    }

    /// <summary>
    /// Keeps, in place, the offsets in those blocks of 64 whose bound, multiplied by <paramref name="margin"/>, reaches a
    /// threshold; returns the number kept.
    /// </summary>
    public static int Narrow(Span<ushort> offsets, ReadOnlySpan<float> bounds, float threshold, float margin)
    {
        Debug.Assert(bounds.Length == BoundKernels.Blocks, "each block has a bound");
        int kept = 0;
        foreach (ushort offset in offsets)
        {
            offsets[kept] = offset;
            kept += bounds[offset >> 6] * margin >= threshold ? 1 : 0;
        }

        return kept;
    }

    /// <summary>Index of the first offset that is not less than <paramref name="value"/>.</summary>
    public static int LowerBound(ReadOnlySpan<ushort> offsets, ushort value)
    {
        if (!Vector256.IsHardwareAccelerated || offsets.Length < Vector256<ushort>.Count)
            return LowerBoundScalar(offsets, value);

        // The list is ascending, so the number of smaller offsets is the index; lists have at most 127 offsets.
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

    /// <summary>
    /// Like <see cref="LowerBound"/>, for a list followed by at least 15 readable offsets without meaning: no branch depends
    /// on the position within a vector.
    /// </summary>
    public static int LowerBoundPadded(ReadOnlySpan<ushort> padded, int count, ushort value)
    {
        if (!Vector256.IsHardwareAccelerated)
            return LowerBoundScalar(padded[..count], value);

        const int Lanes = 16;
        ref ushort start = ref MemoryMarshal.GetReference(padded[..((count + Lanes - 1) & -Lanes)]);
        Vector256<ushort> limit = Vector256.Create(value);
        for (int i = 0; i < count; i += Lanes)
        {
            uint reached = ~Vector256.LessThan(Vector256.LoadUnsafe(ref start, (nuint)i), limit).ExtractMostSignificantBits();
            int smaller = BitOperations.TrailingZeroCount(reached);
            if (smaller < Lanes)
                return Math.Min(count, i + smaller);
        }

        return count;
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
