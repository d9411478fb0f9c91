using System.Numerics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Indexing.Kernels;

/// <summary>Walks rows of numbers in 7-bit groups without decoding them: a number ends at a byte below 128.</summary>
internal static class VarintKernels
{
    /// <summary>Bytes that the first <paramref name="count"/> numbers take; all of them if there are not so many.</summary>
    public static int Skip(ReadOnlySpan<byte> bytes, int count)
    {
        if (!Vector256.IsHardwareAccelerated || count < Vector256<byte>.Count)
            return SkipScalar(bytes, count);

        ref byte start = ref MemoryMarshal.GetReference(bytes);
        int place = 0;
        while (place <= bytes.Length - Vector256<byte>.Count)
        {
            // Set where a number goes on; what is left are ends. A block with fewer than wanted is behind us.
            uint ends = ~Vector256.LoadUnsafe(ref start, (nuint)place).ExtractMostSignificantBits();
            int numbers = BitOperations.PopCount(ends);
            if (numbers >= count)
                break;
            count -= numbers;
            place += Vector256<byte>.Count;
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
