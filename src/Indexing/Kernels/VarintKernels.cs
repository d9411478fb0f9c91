using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Indexing.Kernels;

/// <summary>Walks rows of numbers in 7-bit groups without decoding them: a number ends at a byte below 128.</summary>
internal static class VarintKernels
{
    private const ulong GoesOn = 0x8080808080808080;

    /// <summary>Bytes that the first <paramref name="count"/> numbers take; all of them if there are not so many.</summary>
    public static int Skip(ReadOnlySpan<byte> bytes, int count)
    {
        ref byte start = ref MemoryMarshal.GetReference(bytes);
        int place = 0;
        if (Vector256.IsHardwareAccelerated)
        {
            // So many bytes hold no more numbers than are still wanted.
            while (count >= Vector256<byte>.Count && place <= bytes.Length - Vector256<byte>.Count)
            {
                // Set where a number goes on; what is left are ends.
                count -= BitOperations.PopCount(~Vector256.LoadUnsafe(ref start, (nuint)place).ExtractMostSignificantBits());
                place += Vector256<byte>.Count;
            }
        }

        while (count > 0 && place <= bytes.Length - sizeof(ulong))
        {
            ulong ends = ~Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref start, place)) & GoesOn;
            if (ends == GoesOn && count <= sizeof(ulong))
                return place + count; // one byte each, as nearly all are

            int numbers = BitOperations.PopCount(ends);
            if (numbers >= count)
            {
                while (--count > 0)
                    ends &= ends - 1;
                return place + (BitOperations.TrailingZeroCount(ends) >> 3) + 1;
            }

            count -= numbers;
            place += sizeof(ulong);
        }

        return place + SkipScalar(bytes[place..], count);
    }

    /// <summary>The scalar twin of <see cref="Skip"/>.</summary>
    public static int SkipScalar(ReadOnlySpan<byte> bytes, int count)
    {
        int place = 0;
        while (count > 0 && place < bytes.Length)
            count -= bytes[place++] < 0x80 ? 1 : 0;
        return place;
    }
}
