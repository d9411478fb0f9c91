using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Compares bytes with the ends of a range, 64 at a time. Where they are the highest bytes of numbers, nearly all are decided by them, and only those that are the byte of an end need to be
/// looked at (Feng, Lo, Kao, Xu: <em>ByteSlice</em>, SIGMOD 2015).
/// </summary>
internal static partial class ByteKernels
{
    /// <summary>Bytes that a word has a bit for each of.</summary>
    public const int Group = 64;

    /// <summary>Leaves words those of their bits whose bytes are in a range, and writes those of them whose bytes are not in the inner one; returns whether there are any.</summary>
    /// <param name="bytes">So many for each bit.</param>
    /// <param name="outer">The range.</param>
    /// <param name="inner">A part of it; may be empty.</param>
    /// <param name="words">The bits.</param>
    /// <param name="edges">Those between the outer and the inner range.</param>
    public static unsafe bool Between(ReadOnlySpan<byte> bytes, ByteRange outer, ByteRange inner, Span<ulong> words, Span<ulong> edges)
    {
        Debug.Assert(!outer.IsEmpty);
        ArgumentOutOfRangeException.ThrowIfLessThan(bytes.Length, words.Length * Group);
        ArgumentOutOfRangeException.ThrowIfLessThan(edges.Length, words.Length);
        if (!Vector256.IsHardwareAccelerated)
            return BetweenScalar(bytes, outer, inner, words, edges);

        fixed (byte* start = &MemoryMarshal.GetReference(bytes))
            return Avx512BW.IsSupported ? BetweenWide(start, outer, inner, words, edges) : BetweenNarrow(start, outer, inner, words, edges);
    }

    /// <summary>Which of 64 bytes are one.</summary>
    public static ulong Equal(ReadOnlySpan<byte> bytes, byte value)
    {
        Vector256<byte> wanted = Vector256.Create(value);
        return Vector256.Equals(Vector256.Create(bytes), wanted).ExtractMostSignificantBits()
            | ((ulong)Vector256.Equals(Vector256.Create(bytes[(Group / 2)..]), wanted).ExtractMostSignificantBits() << (Group / 2));
    }

    /// <summary>The scalar twin of <see cref="Between"/>.</summary>
    public static bool BetweenScalar(ReadOnlySpan<byte> bytes, ByteRange outer, ByteRange inner, Span<ulong> words, Span<ulong> edges)
    {
        ulong any = 0;
        for (int i = 0; i < words.Length; i++)
        {
            ulong within = 0, inside = 0;
            for (int bit = 0; bit < Group; bit++)
            {
                within |= (outer.Contains(bytes[(i * Group) + bit]) ? 1UL : 0) << bit;
                inside |= (inner.Contains(bytes[(i * Group) + bit]) ? 1UL : 0) << bit;
            }

            words[i] &= within;
            any |= edges[i] = words[i] & ~inside;
        }

        return any != 0;
    }

    private static unsafe bool BetweenNarrow(byte* start, ByteRange outer, ByteRange inner, Span<ulong> words, Span<ulong> edges)
    {
        const int Half = Group / 2;
        Vector256<byte> from = Vector256.Create(outer.From), span = Vector256.Create(outer.Span), innerFrom = Vector256.Create(inner.From), innerSpan = Vector256.Create(inner.Span);
        ulong none = inner.IsEmpty ? ulong.MaxValue : 0, any = 0;
        for (int i = 0; i < words.Length; i++, start += Group)
        {
            Vector256<byte> low = Vector256.Load(start), high = Vector256.Load(start + Half);
            words[i] &= Bits(low - from, span) | (Bits(high - from, span) << Half);
            any |= edges[i] = words[i] & (~(Bits(low - innerFrom, innerSpan) | (Bits(high - innerFrom, innerSpan) << Half)) | none);
        }

        return any != 0;
    }

    private static ulong Bits(Vector256<byte> above, Vector256<byte> most) => Vector256.Equals(Vector256.Min(above, most), above).ExtractMostSignificantBits();
}
