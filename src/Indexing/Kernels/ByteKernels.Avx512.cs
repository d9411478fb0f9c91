using System.Numerics;
using System.Runtime.Intrinsics;

namespace Treepie.Indexing.Kernels;

internal static partial class ByteKernels
{
    /// <summary>Like <see cref="BetweenNarrow"/>; a comparison of 64 bytes returns all bits at once.</summary>
    private static unsafe bool BetweenWide(byte* start, ByteRange outer, ByteRange inner, Span<ulong> words, Span<ulong> edges)
    {
        Vector512<byte> from = Vector512.Create(outer.From),
            span = Vector512.Create(outer.Span),
            innerFrom = Vector512.Create(inner.From),
            innerSpan = Vector512.Create(inner.Span);
        ulong none = inner.IsEmpty ? ulong.MaxValue : 0, any = 0;
        for (int i = 0; i < words.Length; i++, start += Group)
        {
            Vector512<byte> mine = Vector512.Load(start);
            ulong within = words[i] & Vector512.LessThanOrEqual(mine - from, span).ExtractMostSignificantBits();
            words[i] = within;
            any |= edges[i] = within
                & (~Vector512.LessThanOrEqual(mine - innerFrom, innerSpan).ExtractMostSignificantBits() | none);
        }

        return any != 0;
    }

    /// <summary>Like <see cref="CountNarrow"/>, 64 bytes at a time.</summary>
    private static unsafe int CountWide(
        byte* start, ByteRange outer, ByteRange inner, ReadOnlySpan<ulong> words, Span<ushort> edges, out int found)
    {
        Vector512<byte> from = Vector512.Create(outer.From),
            span = Vector512.Create(outer.Span),
            innerFrom = Vector512.Create(inner.From),
            innerSpan = Vector512.Create(inner.Span);
        ulong some = inner.IsEmpty ? 0 : ulong.MaxValue;
        int count = 0;
        found = 0;
        for (int i = 0; i < words.Length; i++, start += Group)
        {
            Vector512<byte> mine = Vector512.Load(start);
            ulong within = words[i] & Vector512.LessThanOrEqual(mine - from, span).ExtractMostSignificantBits();
            ulong inside = within & some & Vector512.LessThanOrEqual(mine - innerFrom, innerSpan).ExtractMostSignificantBits();
            count += BitOperations.PopCount(inside);
            if (within != inside)
                found = Place(i, within & ~inside, edges, found);
        }

        return count;
    }
}
