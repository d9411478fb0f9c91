using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>Compares 64 numbers of so many bits each that lie one behind the other, lowest bits first, without unpacking them anywhere.</summary>
internal static class PackedKernels
{
    /// <summary>Numbers compared at once.</summary>
    public const int Count = 64;

    /// <summary>Widest numbers: with the seven bits in front of one in its first byte, it is in four bytes.</summary>
    public const int MaxBits = 25;

    /// <summary>
    /// A bit for each number that is not less than <paramref name="from"/> and exceeds it by <paramref name="span"/> at the most; together they are no more than a number can be. Behind the numbers there are three bytes to be read.
    /// </summary>
    public static unsafe ulong Between(ReadOnlySpan<byte> numbers, int bits, uint from, uint span)
    {
        Debug.Assert(bits is >= 0 and <= MaxBits);
        if (!Avx2.IsSupported)
            return BetweenScalar(numbers, bits, from, span);

        // Eight numbers are as many bytes as a number has bits: each eight begin at a byte, with the same places in it.
        ArgumentOutOfRangeException.ThrowIfLessThan(numbers.Length, (Count * bits / 8) + sizeof(uint) - 1);
        Vector256<int> places = Vector256.Create(0, 1, 2, 3, 4, 5, 6, 7) * bits;
        Vector256<int> offsets = places >>> 3;
        Vector256<uint> shifts = (places & Vector256.Create(7)).AsUInt32(), mask = Vector256.Create((1u << bits) - 1), low = Vector256.Create(from), most = Vector256.Create(span);
        ulong found = 0;
        fixed (byte* start = &MemoryMarshal.GetReference(numbers))
        {
            for (int i = 0; i < Count; i += Vector256<int>.Count)
            {
                Vector256<int> read = Avx2.GatherVector256((int*)(start + (i / 8 * bits)), offsets, 1);
                Vector256<uint> above = (Avx2.ShiftRightLogicalVariable(read.AsUInt32(), shifts) & mask) - low;
                found |= (ulong)Vector256.Equals(Vector256.Min(above, most), above).ExtractMostSignificantBits() << i;
            }
        }

        return found;
    }

    /// <summary>The scalar twin of <see cref="Between"/>.</summary>
    public static ulong BetweenScalar(ReadOnlySpan<byte> numbers, int bits, uint from, uint span)
    {
        ulong found = 0;
        uint mask = (1u << bits) - 1;
        for (int i = 0; i < Count; i++)
        {
            int place = i * bits;
            uint number = (BinaryPrimitives.ReadUInt32LittleEndian(numbers[(place >> 3)..]) >> (place & 7)) & mask;
            found |= (number - from <= span ? 1UL : 0) << i;
        }

        return found;
    }
}
