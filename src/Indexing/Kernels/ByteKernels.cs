using System.Diagnostics;
using System.Numerics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Compares bytes with the ends of a range, 64 at a time. If they are the highest bytes of numbers, they decide nearly all
/// comparisons, and only numbers whose byte equals that of an end need a closer look (Feng, Lo, Kao, Xu: <em>ByteSlice</em>,
/// SIGMOD 2015).
/// </summary>
internal static partial class ByteKernels
{
    /// <summary>Number of bytes for each word of bits.</summary>
    public const int Group = 64;

    /// <summary>
    /// Keeps those bits of the words whose bytes are in a range, and writes those of them whose bytes are not in the inner
    /// range; returns whether there are any of the latter.
    /// </summary>
    /// <param name="bytes">The bytes, <see cref="Group"/> for each word.</param>
    /// <param name="outer">The range.</param>
    /// <param name="inner">A part of that range; may be empty.</param>
    /// <param name="words">The bits of the bytes to compare; only those in the range are kept.</param>
    /// <param name="edges">Receives the bits of bytes that are in the outer but not in the inner range.</param>
    public static unsafe bool Between(
        ReadOnlySpan<byte> bytes, ByteRange outer, ByteRange inner, Span<ulong> words, Span<ulong> edges)
    {
        Debug.Assert(!outer.IsEmpty);
        ArgumentOutOfRangeException.ThrowIfLessThan(bytes.Length, words.Length * Group);
        ArgumentOutOfRangeException.ThrowIfLessThan(edges.Length, words.Length);
        if (!Vector256.IsHardwareAccelerated)
            return BetweenScalar(bytes, outer, inner, words, edges);

        fixed (byte* start = &MemoryMarshal.GetReference(bytes))
            return Avx512BW.IsSupported
                ? BetweenWide(start, outer, inner, words, edges)
                : BetweenNarrow(start, outer, inner, words, edges);
    }

    /// <summary>Returns a bit for each of 64 bytes, set if the byte equals <paramref name="value"/>.</summary>
    public static ulong Equal(ReadOnlySpan<byte> bytes, byte value)
    {
        Debug.Assert(bytes.Length >= Group, "a group is compared as a whole");
        Vector256<byte> wanted = Vector256.Create(value);
        return Vector256.Equals(Vector256.Create(bytes), wanted).ExtractMostSignificantBits()
            | ((ulong)Vector256.Equals(Vector256.Create(bytes[(Group / 2)..]), wanted).ExtractMostSignificantBits() << (Group
                / 2));
    }

    /// <summary>The scalar twin of <see cref="Between"/>.</summary>
    public static bool BetweenScalar(
        ReadOnlySpan<byte> bytes, ByteRange outer, ByteRange inner, Span<ulong> words, Span<ulong> edges)
    {
        Debug.Assert(
            bytes.Length >= words.Length * Group && edges.Length >= words.Length,
            "each word has a group of bytes and gets edges");
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

    /// <summary>
    /// Of the bytes whose bits are set, counts those in an inner range and writes the indexes of those that are only in the
    /// outer one.
    /// </summary>
    /// <param name="bytes">The bytes, <see cref="Group"/> for each word.</param>
    /// <param name="outer">The range.</param>
    /// <param name="inner">A part of that range; may be empty.</param>
    /// <param name="words">The bits of the bytes to count.</param>
    /// <param name="edges">Receives the indexes; as long as there are bits.</param>
    /// <param name="found">Number of indexes written.</param>
    public static unsafe int Count(
        ReadOnlySpan<byte> bytes, ByteRange outer, ByteRange inner, ReadOnlySpan<ulong> words, Span<ushort> edges, out int found)
    {
        Debug.Assert(!outer.IsEmpty);
        ArgumentOutOfRangeException.ThrowIfLessThan(bytes.Length, words.Length * Group);
        ArgumentOutOfRangeException.ThrowIfLessThan(edges.Length, words.Length * Group);
        if (!Vector256.IsHardwareAccelerated)
            return CountScalar(bytes, outer, inner, words, edges, out found);

        fixed (byte* start = &MemoryMarshal.GetReference(bytes))
            return Avx512BW.IsSupported
                ? CountWide(start, outer, inner, words, edges, out found)
                : CountNarrow(start, outer, inner, words, edges, out found);
    }

    /// <summary>
    /// Like <see cref="Count(ReadOnlySpan{byte}, ByteRange, ByteRange, ReadOnlySpan{ulong}, Span{ushort}, out int)"/>, for
    /// the bytes at the given indexes.
    /// </summary>
    public static int Count(
        ReadOnlySpan<byte> bytes, ByteRange outer, ByteRange inner, ReadOnlySpan<ushort> places, Span<ushort> edges,
        out int found)
    {
        Debug.Assert(!outer.IsEmpty);
        ArgumentOutOfRangeException.ThrowIfLessThan(edges.Length, places.Length);
        int from = outer.First, span = outer.Last - outer.First, innerFrom = inner.First, innerSpan = inner.Last - inner.First;
        int count = 0, open = 0;
        foreach (ushort place in places)
        {
            int value = bytes[place];
            int inside = !inner.IsEmpty && (uint)(value - innerFrom) <= (uint)innerSpan ? 1 : 0;
            edges[open] = place;
            open += ((uint)(value - from) <= (uint)span ? 1 : 0) - inside;
            count += inside;
        }

        found = open;
        return count;
    }

    /// <summary>
    /// The scalar twin of
    /// <see cref="Count(ReadOnlySpan{byte}, ByteRange, ByteRange, ReadOnlySpan{ulong}, Span{ushort}, out int)"/>.
    /// </summary>
    public static int CountScalar(
        ReadOnlySpan<byte> bytes, ByteRange outer, ByteRange inner, ReadOnlySpan<ulong> words, Span<ushort> edges, out int found)
    {
        Debug.Assert(bytes.Length >= words.Length * Group, "each word has a group of bytes");
        int count = 0;
        found = 0;
        for (int i = 0; i < words.Length; i++)
        {
            for (ulong left = words[i]; left != 0; left &= left - 1)
            {
                int place = (i * Group) + BitOperations.TrailingZeroCount(left);
                if (inner.Contains(bytes[place]))
                    count++;
                else if (outer.Contains(bytes[place]))
                    edges[found++] = (ushort)place;
            }
        }

        return count;
    }

    private static unsafe int CountNarrow(
        byte* start, ByteRange outer, ByteRange inner, ReadOnlySpan<ulong> words, Span<ushort> edges, out int found)
    {
        const int Half = Group / 2;
        Vector256<byte> from = Vector256.Create(outer.From),
            span = Vector256.Create(outer.Span),
            innerFrom = Vector256.Create(inner.From),
            innerSpan = Vector256.Create(inner.Span);
        ulong some = inner.IsEmpty ? 0 : ulong.MaxValue;
        int count = 0;
        found = 0;
        for (int i = 0; i < words.Length; i++, start += Group)
        {
            Vector256<byte> low = Vector256.Load(start), high = Vector256.Load(start + Half);
            ulong within = words[i] & (Bits(low - from, span) | ((ulong)Bits(high - from, span) << Half));
            ulong inside = within & some
                & (Bits(low - innerFrom, innerSpan) | ((ulong)Bits(high - innerFrom, innerSpan) << Half));
            count += BitOperations.PopCount(inside);
            found = Place(i, within & ~inside, edges, found);
        }

        return count;
    }

    /// <summary>Appends the indexes of the set bits of a word; returns the new number of indexes.</summary>
    private static int Place(int word, ulong bits, Span<ushort> places, int count)
    {
        for (; bits != 0; bits &= bits - 1)
            places[count++] = (ushort)((word * Group) + BitOperations.TrailingZeroCount(bits));
        return count;
    }

    private static unsafe bool BetweenNarrow(byte* start, ByteRange outer, ByteRange inner, Span<ulong> words, Span<ulong> edges)
    {
        const int Half = Group / 2;
        Vector256<byte> from = Vector256.Create(outer.From),
            span = Vector256.Create(outer.Span),
            innerFrom = Vector256.Create(inner.From),
            innerSpan = Vector256.Create(inner.Span);
        ulong none = inner.IsEmpty ? ulong.MaxValue : 0, any = 0;
        for (int i = 0; i < words.Length; i++, start += Group)
        {
            Vector256<byte> low = Vector256.Load(start), high = Vector256.Load(start + Half);
            words[i] &= Bits(low - from, span) | (Bits(high - from, span) << Half);
            any |= edges[i] = words[i]
                & (~(Bits(low - innerFrom, innerSpan) | (Bits(high - innerFrom, innerSpan) << Half)) | none);
        }

        return any != 0;
    }

    private static ulong Bits(Vector256<byte> above, Vector256<byte> most) =>
        Vector256.Equals(Vector256.Min(above, most), above).ExtractMostSignificantBits();
}
