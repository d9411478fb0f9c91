using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Positions of words in entries as masks of 64 bits, with bit <c>position mod 64</c> set for each, so that one shift and
/// one AND find the positions of an entry at which two words follow each other. If all positions of an entry are below 64,
/// the mask is exact; for a longer entry it shows where there can be no match. Each vector form has a scalar twin.
/// </summary>
internal static class PositionKernels
{
    /// <summary>Positions that a mask can distinguish.</summary>
    public const int MaskBits = 64;

    private const int PlaceBits = MaskBits - 1;
    private const ulong EachPlace = PlaceBits * 0x0101010101010101UL;
    private const ulong EachNone = MaskBits * 0x0101010101010101UL;

    /// <summary>
    /// Makes the masks of several entries from their positions as stored, one byte each: the first position, then distances.
    /// </summary>
    /// <param name="bytes">The positions of these entries and of those in between.</param>
    /// <param name="starts">Where the positions of each entry begin.</param>
    /// <param name="start">Where <paramref name="bytes"/> begin, in the same numbering.</param>
    /// <param name="counts">Number of positions of each entry, one or more.</param>
    /// <param name="masks">The masks.</param>
    /// <param name="isLong">1 if a position of the entry is 64 or above, 0 otherwise.</param>
    public static void Masks(
        ReadOnlySpan<byte> bytes, ReadOnlySpan<int> starts, int start, ReadOnlySpan<int> counts, Span<ulong> masks,
        Span<byte> isLong)
    {
        Debug.Assert(counts.Length == starts.Length && masks.Length == starts.Length && isLong.Length == starts.Length);
        if (!Avx2.IsSupported)
        {
            MasksScalar(bytes, starts, start, counts, masks, isLong);
            return;
        }

        ref byte first = ref MemoryMarshal.GetReference(bytes);
        for (int i = 0; i < starts.Length; i++)
        {
            int place = starts[i] - start, count = counts[i];
            if (count > sizeof(ulong) || (uint)place > (uint)(bytes.Length - sizeof(ulong)) || bytes.Length < sizeof(ulong))
            {
                masks[i] = MaskOf(bytes.Slice(place, count), out isLong[i]);
                continue;
            }

            masks[i] = MaskOfEight(Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref first, place)), count, out isLong[i]);
        }
    }

    /// <summary>The scalar twin of <see cref="Masks"/>.</summary>
    public static void MasksScalar(
        ReadOnlySpan<byte> bytes, ReadOnlySpan<int> starts, int start, ReadOnlySpan<int> counts, Span<ulong> masks,
        Span<byte> isLong)
    {
        for (int i = 0; i < starts.Length; i++)
            masks[i] = MaskOf(bytes.Slice(starts[i] - start, counts[i]), out isLong[i]);
    }

    /// <summary>
    /// For each entry, keeps those begin positions at which <paramref name="distance"/> positions later there may be one of
    /// the given positions.
    /// </summary>
    /// <param name="begins">For each entry, a mask of possible begin positions. Unless the entry is long, its bits stand for
    /// positions below 64 only.</param>
    /// <param name="masks">For each entry, the mask of its positions.</param>
    /// <param name="isLong">For each entry, whether one of its positions is 64 or above.</param>
    /// <param name="distance">The distance of the positions from the beginning.</param>
    public static void Narrow(Span<ulong> begins, ReadOnlySpan<ulong> masks, ReadOnlySpan<byte> isLong, int distance)
    {
        Debug.Assert(masks.Length == begins.Length && isLong.Length == begins.Length);
        int shift = distance & PlaceBits;
        ulong none = distance < MaskBits ? ulong.MaxValue : 0;
        for (int i = 0; i < begins.Length; i++)
        {
            // A match cannot begin before position 0. Only in a long entry does a bit also stand for later positions.
            ulong mask = masks[i];
            begins[i] &= isLong[i] != 0 ? BitOperations.RotateRight(mask, shift) : (mask >> shift) & none;
        }
    }

    /// <summary>
    /// Like <see cref="Narrow"/>, for a word that may be up to <paramref name="slop"/> positions after its own: keeps at
    /// least those positions at which a match may begin. It may begin before position 0, so bits also stand for other
    /// positions, in short entries as well as in long ones.
    /// </summary>
    public static void NarrowNear(Span<ulong> begins, ReadOnlySpan<ulong> masks, int distance, int slop)
    {
        Debug.Assert(masks.Length == begins.Length && slop is > 0 and < MaskBits);
        for (int i = 0; i < begins.Length; i++)
        {
            // Cover slop + 1 positions, doubling the number in each step.
            ulong near = BitOperations.RotateRight(masks[i], distance & PlaceBits);
            for (int covered = 1; covered <= slop;)
            {
                int step = Math.Min(covered, slop + 1 - covered);
                near |= BitOperations.RotateRight(near, step);
                covered += step;
            }

            begins[i] &= near;
        }
    }

    /// <summary>
    /// The mask of up to eight positions, read from eight bytes that may contain other values after them: computes the
    /// prefix sums of the distances in parallel, then shifts a bit to each position at once.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong MaskOfEight(ulong bytes, int count, out byte isLong)
    {
        ulong others = count == sizeof(ulong) ? 0 : ulong.MaxValue << (8 * count);
        Vector128<byte> places = Vector128.CreateScalar(bytes & ~others).AsByte();
        isLong = (byte)(Sse2.SumAbsoluteDifferences(places, Vector128<byte>.Zero).AsUInt32().ToScalar() >= MaskBits ? 1 : 0);

        // Sums of bytes above 255 wrap around by 256, a multiple of 64.
        places += (places.AsUInt64() << 8).AsByte();
        places += (places.AsUInt64() << 16).AsByte();
        places += (places.AsUInt64() << 32).AsByte();
        // A bit that is shifted by 64 disappears.
        places = (places & Vector128.CreateScalar(EachPlace).AsByte()) | Vector128.CreateScalar(others & EachNone).AsByte();
        Vector256<ulong> one = Vector256<ulong>.One;
        Vector256<ulong> bits = Avx2.ShiftLeftLogicalVariable(one, Avx2.ConvertToVector256Int64(places).AsUInt64())
            | Avx2.ShiftLeftLogicalVariable(one, Avx2.ConvertToVector256Int64((places.AsUInt64() >> 32).AsByte()).AsUInt64());
        Vector128<ulong> half = bits.GetLower() | bits.GetUpper();
        return half[0] | half[1];
    }

    private static ulong MaskOf(ReadOnlySpan<byte> distances, out byte isLong)
    {
        int place = 0;
        ulong mask = 0;
        foreach (byte distance in distances)
        {
            place += distance;
            mask |= 1UL << (place & PlaceBits);
        }

        isLong = (byte)(place >= MaskBits ? 1 : 0);
        return mask;
    }
}
