using System.Runtime.Intrinsics;

namespace Treepie.Indexing.Kernels;

internal static partial class ByteKernels
{
    /// <summary>As <see cref="BetweenNarrow"/>: a comparison of 64 bytes gives the bits at once.</summary>
    private static unsafe bool BetweenWide(byte* start, ByteRange outer, ByteRange inner, Span<ulong> words, Span<ulong> edges)
    {
        Vector512<byte> from = Vector512.Create(outer.From), span = Vector512.Create(outer.Span), innerFrom = Vector512.Create(inner.From), innerSpan = Vector512.Create(inner.Span);
        ulong none = inner.IsEmpty ? ulong.MaxValue : 0, any = 0;
        for (int i = 0; i < words.Length; i++, start += Group)
        {
            Vector512<byte> mine = Vector512.Load(start);
            ulong within = words[i] & Vector512.LessThanOrEqual(mine - from, span).ExtractMostSignificantBits();
            words[i] = within;
            any |= edges[i] = within & (~Vector512.LessThanOrEqual(mine - innerFrom, innerSpan).ExtractMostSignificantBits() | none);
        }

        return any != 0;
    }
}
