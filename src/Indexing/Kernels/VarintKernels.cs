using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

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

    /// <summary>
    /// Goes along entries as a short list keeps them: (number − number before) · 2, 1 more where a frequency follows. Sets the bit of each number; false where a number is beyond the
    /// bits, or does not end.
    /// </summary>
    public static bool SetEntries(Span<ulong> bits, ReadOnlySpan<byte> entries)
    {
        ref byte start = ref MemoryMarshal.GetReference(entries);
        ref ulong words = ref MemoryMarshal.GetReference(bits);
        ulong number = 0, end = (ulong)bits.Length << 6;
        int place = 0;
        if (Bmi2.X64.IsSupported)
        {
            // Two at a time that end within eight bytes and have no frequencies, as most of rare words: what follows waits for half as many sums.
            while (place <= entries.Length - sizeof(ulong))
            {
                ulong eight = Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref start, place));
                ulong ends = ~eight & GoesOn, second = ends & (ends - 1);
                ulong one = Bmi2.X64.ParallelBitExtract(eight & (ends ^ (ends - 1)), ~GoesOn);
                if (second == 0 || (one & 1) != 0)
                {
                    if (!SetEntry(bits, entries, ref place, ref number))
                        return false;
                    continue;
                }

                int firstBytes = (BitOperations.TrailingZeroCount(ends) >> 3) + 1;
                ulong two = Bmi2.X64.ParallelBitExtract((eight & (second ^ (second - 1))) >> (8 * firstBytes), ~GoesOn);
                ulong next = number + (one >> 1), last = next + (two >> 1);
                if ((two & 1) != 0)
                {
                    if (next >= end)
                        return false;
                    number = next;
                    Unsafe.Add(ref words, (nuint)(next >> 6)) |= 1UL << (int)next;
                    place += firstBytes;
                    if (!SetEntry(bits, entries, ref place, ref number))
                        return false;
                    continue;
                }

                if (last >= end)
                    return false;
                Unsafe.Add(ref words, (nuint)(next >> 6)) |= 1UL << (int)next;
                Unsafe.Add(ref words, (nuint)(last >> 6)) |= 1UL << (int)last;
                number = last;
                place += (BitOperations.TrailingZeroCount(second) >> 3) + 1;
            }
        }

        while (place < entries.Length)
        {
            if (!SetEntry(bits, entries, ref place, ref number))
                return false;
        }

        return true;
    }

    /// <summary>The scalar twin of <see cref="SetEntries"/>.</summary>
    public static bool SetEntriesScalar(Span<ulong> bits, ReadOnlySpan<byte> entries)
    {
        ulong number = 0;
        for (int place = 0; place < entries.Length;)
        {
            if (!SetEntry(bits, entries, ref place, ref number))
                return false;
        }

        return true;
    }

    private static bool SetEntry(Span<ulong> bits, ReadOnlySpan<byte> entries, ref int place, ref ulong number)
    {
        if (!TryRead(entries, ref place, out ulong step))
            return false;
        number += step >> 1;
        if (number >= (ulong)bits.Length << 6)
            return false;
        bits[(int)(number >> 6)] |= 1UL << (int)number;
        return (step & 1) == 0 || TryRead(entries, ref place, out _);
    }

    private static bool TryRead(ReadOnlySpan<byte> bytes, ref int place, out ulong value)
    {
        value = 0;
        for (int shift = 0; place < bytes.Length && shift < 64; shift += 7)
        {
            byte next = bytes[place++];
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
                return true;
        }

        return false;
    }
}
