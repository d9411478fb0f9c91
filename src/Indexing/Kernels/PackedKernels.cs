using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Compares 64 numbers of a fixed number of bits, packed one after another with the lowest bits first, without unpacking
/// them to memory.
/// </summary>
internal static class PackedKernels
{
    /// <summary>Numbers compared at once.</summary>
    public const int Count = 64;

    /// <summary>Bits of the widest number: it lies within four bytes even after up to seven bits of its first byte.</summary>
    public const int MaxBits = 25;

    /// <summary>Numbers per vector.</summary>
    private const int Step = 8;

    /// <summary>Size of the buffer for numbers of few bits, which end too soon for a vector load.</summary>
    private const int MaxRoomBytes = 256;

    /// <summary>
    /// Returns a bit for each number, set if the number is at least <paramref name="from"/> and at most
    /// <paramref name="from"/> + <paramref name="span"/>, which must not exceed the greatest number of this width. At least
    /// three readable bytes must follow the numbers.
    /// </summary>
    public static unsafe ulong Between(ReadOnlySpan<byte> numbers, int bits, uint from, uint span)
    {
        Debug.Assert(bits is >= 0 and <= MaxBits);
        if (!Avx2.IsSupported)
            return BetweenScalar(numbers, bits, from, span);

        ArgumentOutOfRangeException.ThrowIfLessThan(numbers.Length, (Count * bits / 8) + sizeof(uint) - 1);
        int needed = ((Count - Step) / 8 * bits) + SecondStart(bits) + Vector128<byte>.Count;
        if (numbers.Length >= needed)
        {
            fixed (byte* start = &MemoryMarshal.GetReference(numbers))
                return BetweenVectors(start, bits, from, span);
        }

        return BetweenCopies(numbers, bits, from, span);
    }

    private static unsafe ulong BetweenCopies(ReadOnlySpan<byte> numbers, int bits, uint from, uint span)
    {
        Debug.Assert(numbers.Length <= MaxRoomBytes, "the numbers fit the buffer");
        byte* room = stackalloc byte[MaxRoomBytes];
        numbers.CopyTo(new Span<byte>(room, MaxRoomBytes));
        return BetweenVectors(room, bits, from, span);
    }

    /// <summary>
    /// Offset of the sixteen bytes that contain the last four of eight numbers: as small as possible, so that few bytes must
    /// be readable after them.
    /// </summary>
    private static int SecondStart(int bits) => Math.Max(0, (7 * bits / 8) + sizeof(uint) - Vector128<byte>.Count);

    /// <summary>
    /// Eight numbers take as many bytes as a number has bits, so every eight numbers begin at a byte and have the same bit
    /// offsets. Four of them lie within sixteen bytes, of which each number uses four.
    /// </summary>
    private static unsafe ulong BetweenVectors(byte* start, int bits, uint from, uint span)
    {
        int second = SecondStart(bits);
        Vector256<int> places = Vector256.Create(0, 1, 2, 3, 4, 5, 6, 7) * bits;
        Vector256<int> offsets = (places >>> 3) - Vector256.Create(0, 0, 0, 0, second, second, second, second);
        Vector256<byte> bytes = ((offsets * 0x01010101) + Vector256.Create(0x03020100)).AsByte();
        Vector256<uint> shifts = (places & Vector256.Create(7)).AsUInt32(),
            mask = Vector256.Create((1u << bits) - 1),
            low = Vector256.Create(from),
            most = Vector256.Create(span);
        ulong found = 0;
        for (int i = 0; i < Count; i += Step, start += bits)
        {
            Vector256<byte> read = Avx2.Shuffle(Vector256.Create(Vector128.Load(start), Vector128.Load(start + second)), bytes);
            Vector256<uint> above = (Avx2.ShiftRightLogicalVariable(read.AsUInt32(), shifts) & mask) - low;
            found |= (ulong)Vector256.Equals(Vector256.Min(above, most), above).ExtractMostSignificantBits() << i;
        }

        return found;
    }

    /// <summary>The scalar twin of <see cref="Between"/>.</summary>
    public static ulong BetweenScalar(ReadOnlySpan<byte> numbers, int bits, uint from, uint span)
    {
        Debug.Assert(bits is >= 0 and <= MaxBits, "a number lies within four bytes");
        if (bits == 0)
            return 0 - from <= span ? ulong.MaxValue : 0; // three bytes follow, and a read takes four

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
