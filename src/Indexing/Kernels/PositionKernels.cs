using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Places of words in entries as masks of 64 bits: bit <c>place mod 64</c> for each, so that one shift and one AND tell at which
/// places of an entry two words stand one behind the other. Of an entry all of whose places are below 64 the mask says all there
/// is; of a longer one it says where nothing can be. Each vector form has a scalar twin.
/// </summary>
internal static class PositionKernels
{
    /// <summary>Places that a mask tells apart.</summary>
    public const int MaskBits = 64;

    private const int PlaceBits = MaskBits - 1;
    private const ulong EachPlace = PlaceBits * 0x0101010101010101UL;
    private const ulong EachNone = MaskBits * 0x0101010101010101UL;

    /// <summary>
    /// Makes the masks of several entries from their places as they are kept, one byte each: the first, then distances.
    /// </summary>
    /// <param name="bytes">The places of these entries and of those in between.</param>
    /// <param name="starts">Where those of each entry begin.</param>
    /// <param name="start">Where <paramref name="bytes"/> begin.</param>
    /// <param name="counts">How many places each entry has, one or more.</param>
    /// <param name="masks">The masks.</param>
    /// <param name="isLong">1 where a place is 64 or above, 0 otherwise.</param>
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
    /// Of each entry, keeps those places at which something may begin that has one of some places so far behind it.
    /// </summary>
    /// <param name="begins">By entry, a mask of where it may begin; bits stand for places below 64 but where the entry is
    /// long.</param>
    /// <param name="masks">By entry, the mask of the places.</param>
    /// <param name="isLong">By entry, whether one of the places is 64 or above.</param>
    /// <param name="distance">How far behind.</param>
    public static void Narrow(Span<ulong> begins, ReadOnlySpan<ulong> masks, ReadOnlySpan<byte> isLong, int distance)
    {
        Debug.Assert(masks.Length == begins.Length && isLong.Length == begins.Length);
        int shift = distance & PlaceBits;
        ulong none = distance < MaskBits ? ulong.MaxValue : 0;
        for (int i = 0; i < begins.Length; i++)
        {
            // Nothing begins before the first place; only in a long entry a bit stands for a later place, too.
            ulong mask = masks[i];
            begins[i] &= isLong[i] != 0 ? BitOperations.RotateRight(mask, shift) : (mask >> shift) & none;
        }
    }

    /// <summary>
    /// As <see cref="Narrow"/>, of what may stand up to <paramref name="slop"/> places behind its own: keeps at least those
    /// places at which something may begin. It may begin before the first place, so bits stand for other places, too, in short
    /// entries as in long ones.
    /// </summary>
    public static void NarrowNear(Span<ulong> begins, ReadOnlySpan<ulong> masks, int distance, int slop)
    {
        Debug.Assert(masks.Length == begins.Length && slop is > 0 and < MaskBits);
        for (int i = 0; i < begins.Length; i++)
        {
            // As many places as slop says, and one: twice as many by each step.
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
    /// The mask of up to eight places, in eight bytes of which others follow: sums of the distances side by side, then a bit
    /// moved to each at once.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong MaskOfEight(ulong bytes, int count, out byte isLong)
    {
        ulong others = count == sizeof(ulong) ? 0 : ulong.MaxValue << (8 * count);
        Vector128<byte> places = Vector128.CreateScalar(bytes & ~others).AsByte();
        isLong = (byte)(Sse2.SumAbsoluteDifferences(places, Vector128<byte>.Zero).AsUInt32().ToScalar() >= MaskBits ? 1 : 0);

        // Sums of bytes that pass 255 lose a multiple of 64.
        places += (places.AsUInt64() << 8).AsByte();
        places += (places.AsUInt64() << 16).AsByte();
        places += (places.AsUInt64() << 32).AsByte();
        // moved by 64, a bit is gone
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
