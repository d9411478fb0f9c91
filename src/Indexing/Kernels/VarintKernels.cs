using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>Scans sequences of varints without decoding them: a number ends at a byte below 128.</summary>
internal static class VarintKernels
{
    private const ulong GoesOn = 0x8080808080808080;

    /// <summary>Number of bytes whose ends are found at once.</summary>
    private const int ByMask = 64;

    /// <summary>
    /// Returns the number of bytes of the first <paramref name="count"/> numbers, or of all bytes if there are fewer
    /// numbers.
    /// </summary>
    public static int Skip(ReadOnlySpan<byte> bytes, int count)
    {
        ref byte start = ref MemoryMarshal.GetReference(bytes);
        int place = 0;
        if (Vector256.IsHardwareAccelerated)
        {
            // A vector of bytes contains no more numbers than are still to be skipped.
            while (count >= Vector256<byte>.Count && place <= bytes.Length - Vector256<byte>.Count)
            {
                // Bits are set where a number continues; the others are ends.
                count -= BitOperations.PopCount(~Vector256.LoadUnsafe(ref start, (nuint)place).ExtractMostSignificantBits());
                place += Vector256<byte>.Count;
            }
        }

        while (count > 0 && place <= bytes.Length - sizeof(ulong))
        {
            ulong ends = ~Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref start, place)) & GoesOn;
            if (ends == GoesOn && count <= sizeof(ulong))
                return place + count; // one byte each, as nearly always

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
    /// Reads the entries of a short list: (number − previous number) · 2, plus 1 if a frequency follows. Sets the bit of
    /// each number; false if a number is beyond the bits or does not end.
    /// </summary>
    /// <param name="bits">The bitmap.</param>
    /// <param name="bytes">The entries, and any readable bytes after them.</param>
    /// <param name="length">Length of the entries in bytes.</param>
    public static bool SetEntries(Span<ulong> bits, ReadOnlySpan<byte> bytes, int length)
    {
        Debug.Assert(length >= 0 && length <= bytes.Length, "the entries are part of the bytes");
        if (!Bmi2.X64.IsSupported || !Vector256.IsHardwareAccelerated || bytes.Length < sizeof(ulong))
            return SetEntriesScalar(bits, bytes[..length]);

        // The ends of numbers are found as a bit for each of 64 bytes, so that no number must wait for the end of the
        // previous one.
        ref byte start = ref MemoryMarshal.GetReference(bytes);
        ref ulong words = ref MemoryMarshal.GetReference(bits);
        ulong number = 0, end = (ulong)bits.Length << 6, isFrequency = 0;
        int place = 0, from = 0;
        for (; place < length && place <= bytes.Length - ByMask - sizeof(ulong); place += ByMask)
        {
            ulong ends = EndsAt(ref Unsafe.Add(ref start, place));
            if (length - place < ByMask)
                ends = Bmi2.X64.ZeroHighBits(ends, (ulong)(length - place));
            for (; ends != 0; ends &= ends - 1)
            {
                int next = place + BitOperations.TrailingZeroCount(ends) + 1;
                if (!SetEntry(
                    ref words, end, Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref start, from)), next - from, ref number,
                    ref isFrequency))
                    return false;
                from = next;
            }
        }

        // If too few bytes follow, the bytes before are read as well and shifted out.
        for (int last = bytes.Length - sizeof(ulong); place < length; place += ByMask)
        {
            int first = Math.Max(0, Math.Min(place, bytes.Length - ByMask));
            ulong ends = bytes.Length < ByMask
                ? EndsOf(ref start, bytes.Length)
                : EndsAt(ref Unsafe.Add(ref start, first)) >> (place - first);
            ends = Bmi2.X64.ZeroHighBits(ends, (ulong)Math.Min(ByMask, length - place));
            for (; ends != 0; ends &= ends - 1)
            {
                int next = place + BitOperations.TrailingZeroCount(ends) + 1, at = Math.Min(from, last);
                ulong eight = Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref start, at)) >> (8 * (from - at));
                if (!SetEntry(ref words, end, eight, next - from, ref number, ref isFrequency))
                    return false;
                from = next;
            }
        }

        return from == length && isFrequency == 0;
    }

    /// <summary>
    /// Sets the bit of the entry whose number is in the first bytes of eight. A frequency sets the bit of its entry again,
    /// so that no branch depends on which of the two it is. False if the number is too long or beyond the bits.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool SetEntry(ref ulong words, ulong end, ulong eight, int length, ref ulong number, ref ulong isFrequency)
    {
        ulong step = Bmi2.X64.ParallelBitExtract(Bmi2.X64.ZeroHighBits(eight, (ulong)(8 * length)), ~GoesOn);
        number += (step >> 1) & (isFrequency - 1);
        isFrequency = step & ~isFrequency & 1;
        if (number >= end || length > sizeof(ulong))
            return false;
        Unsafe.Add(ref words, (nuint)(number >> 6)) |= 1UL << (int)number;
        return true;
    }

    /// <summary>Returns a bit for each of 64 bytes, set if a number ends there.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong EndsAt(ref byte start) =>
        ~(Vector256.LoadUnsafe(ref start).ExtractMostSignificantBits()
            | ((ulong)Vector256.LoadUnsafe(ref start, (nuint)Vector256<byte>.Count).ExtractMostSignificantBits() << 32));

    /// <summary>
    /// Like <see cref="EndsAt"/>, for 8 to 63 bytes: the last bytes are read together with those before them instead of
    /// those after them. Bits past the length are undefined.
    /// </summary>
    private static ulong EndsOf(ref byte start, int length)
    {
        if (length >= Vector256<byte>.Count)
        {
            int rest = length - Vector256<byte>.Count;
            return ~(Vector256.LoadUnsafe(ref start).ExtractMostSignificantBits()
                | ((ulong)Vector256.LoadUnsafe(ref start, (nuint)rest).ExtractMostSignificantBits() << rest));
        }

        if (length >= Vector128<byte>.Count)
        {
            int rest = length - Vector128<byte>.Count;
            return ~(Vector128.LoadUnsafe(ref start).ExtractMostSignificantBits()
                | ((ulong)Vector128.LoadUnsafe(ref start, (nuint)rest).ExtractMostSignificantBits() << rest));
        }

        int last = length - sizeof(ulong);
        return ~(Bmi2.X64.ParallelBitExtract(Unsafe.ReadUnaligned<ulong>(ref start), GoesOn)
            | (Bmi2.X64.ParallelBitExtract(Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref start, last)), GoesOn) << last));
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

    /// <summary>
    /// Reads entries like <see cref="SetEntries"/>, but returns only the last number; false if one does not end.
    /// </summary>
    public static bool TryLast(ReadOnlySpan<byte> entries, out ulong last)
    {
        // The weight of a byte depends on how many bytes of its number precede it. The preceding bytes are read, so the loop
        // starts at the first entry that has enough bytes before it.
        const int InFront = 3;
        last = 0;
        int place = 0;
        while (place < Math.Min(InFront, entries.Length))
        {
            if (!Pass(entries, ref place, ref last))
                return false;
        }

        if (place == entries.Length)
            return true;
        if (!Avx2.IsSupported || entries.Length - place < Vector256<byte>.Count)
            return TryLast(entries, place, ref last);
        if (entries[^1] >= 0x80)
            return false;

        ref byte start = ref MemoryMarshal.GetReference(entries);
        int final = entries.Length - Vector256<byte>.Count, behind = 0;
        ulong taken = 0;
        Vector256<ulong> sum0 = default, sum1 = default, sum2 = default, sum3 = default;
        Vector256<byte> bytesOf = Vector256<byte>.Indices, counted = Vector256<byte>.AllBitsSet, tooLong = default;
        for (int at = place; ; at += Vector256<byte>.Count)
        {
            if (at > final)
            {
                // Skip the bytes that were already counted.
                counted = Vector256.GreaterThanOrEqual(bytesOf, Vector256.Create((byte)(at - final)));
                at = final;
            }

            Vector256<byte> bytes = Vector256.LoadUnsafe(ref start, (nuint)at);
            Vector256<byte> one = GoOn(ref start, at - 1),
                two = one & GoOn(ref start, at - 2),
                three = two & GoOn(ref start, at - InFront);
            Vector256<byte> values = bytes & counted & Vector256.Create((byte)0x7F);
            tooLong |= three & bytes;
            sum0 += Sum(Vector256.AndNot(values, one));
            sum1 += Sum(Vector256.AndNot(values & one, two));
            sum2 += Sum(Vector256.AndNot(values & two, three));
            sum3 += Sum(values & three);

            // If a number is odd, the next one is a frequency, unless the number is a frequency itself.
            uint odd = Vector256.AndNot((bytes.AsUInt16() << 7).AsByte() & counted, one).ExtractMostSignificantBits();
            for (; odd != 0; odd &= odd - 1)
            {
                int number = at + BitOperations.TrailingZeroCount(odd);
                if (number < behind)
                    continue;
                if (!TryRead(entries, ref number, out _) || !TryRead(entries, ref number, out ulong frequency))
                    return false;
                taken += frequency + 1;
                behind = number;
            }

            if (at == final)
                break;
        }

        if (tooLong.ExtractMostSignificantBits() != 0)
            return TryLast(entries, place, ref last);
        last += (Vector256.Sum(sum0) + (Vector256.Sum(sum1) << 7) + (Vector256.Sum(sum2) << 14) + (Vector256.Sum(sum3) << 21)
            - taken) >> 1;
        return true;
    }

    /// <summary>The scalar twin of <see cref="TryLast(ReadOnlySpan{byte}, out ulong)"/>.</summary>
    public static bool TryLastScalar(ReadOnlySpan<byte> entries, out ulong last)
    {
        last = 0;
        return TryLast(entries, 0, ref last);
    }

    private static bool TryLast(ReadOnlySpan<byte> entries, int place, ref ulong last)
    {
        while (place < entries.Length)
        {
            if (!Pass(entries, ref place, ref last))
                return false;
        }

        return true;
    }

    /// <summary>Moves past an entry and adds its step to <paramref name="number"/>.</summary>
    private static bool Pass(ReadOnlySpan<byte> entries, ref int place, ref ulong number)
    {
        if (!TryRead(entries, ref place, out ulong step))
            return false;
        number += step >> 1;
        return (step & 1) == 0 || TryRead(entries, ref place, out _);
    }

    /// <summary>A mask of the bytes after which their number continues.</summary>
    private static Vector256<byte> GoOn(ref byte start, int at) =>
        Vector256.LessThan(Vector256.LoadUnsafe(ref start, (nuint)at).AsSByte(), Vector256<sbyte>.Zero).AsByte();

    private static Vector256<ulong> Sum(Vector256<byte> bytes) =>
        Avx2.SumAbsoluteDifferences(bytes, Vector256<byte>.Zero).AsUInt64();

    private static bool SetEntry(Span<ulong> bits, ReadOnlySpan<byte> entries, ref int place, ref ulong number)
    {
        if (!Pass(entries, ref place, ref number) || number >= (ulong)bits.Length << 6)
            return false;
        bits[(int)(number >> 6)] |= 1UL << (int)number;
        return true;
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
