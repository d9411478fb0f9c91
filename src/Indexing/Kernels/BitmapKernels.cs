using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Loops over bitmaps of one window (4,096 bits, 64 words, 512 bytes). The right operand may be unaligned in a page. Each
/// vector form has a scalar twin; tests compare the two.
/// </summary>
internal static class BitmapKernels
{
    /// <summary>Words of a bitmap: 4,096 bits / 64.</summary>
    public const int Words = 64;

    /// <summary>Bytes of a bitmap.</summary>
    public const int Bytes = Words * sizeof(ulong);

    /// <summary>Combines <paramref name="other"/> into <paramref name="target"/>.</summary>
    public static void Combine<TOperation>(Span<ulong> target, ReadOnlySpan<byte> other)
        where TOperation : struct, IBitOperation
    {
        Debug.Assert(target.Length == Words && other.Length == Bytes);
        if (!Vector256.IsHardwareAccelerated)
        {
            CombineScalar<TOperation>(target, other);
            return;
        }

        ref ulong left = ref MemoryMarshal.GetReference(target);
        ref ulong right = ref Unsafe.As<byte, ulong>(ref MemoryMarshal.GetReference(other));
        for (nuint i = 0; i < Words; i += 4)
            TOperation.Apply(Vector256.LoadUnsafe(ref left, i), Vector256.LoadUnsafe(ref right, i)).StoreUnsafe(ref left, i);
    }

    /// <summary>The scalar twin of <see cref="Combine{TOperation}"/>.</summary>
    public static void CombineScalar<TOperation>(Span<ulong> target, ReadOnlySpan<byte> other)
        where TOperation : struct, IBitOperation
    {
        Debug.Assert(target.Length == Words && other.Length == Bytes, "both bitmaps are of a window");
        ReadOnlySpan<ulong> right = MemoryMarshal.Cast<byte, ulong>(other);
        for (int i = 0; i < Words; i++)
            target[i] = TOperation.Apply(target[i], right[i]);
    }

    /// <summary>Number of bits set.</summary>
    public static int Count(ReadOnlySpan<ulong> bits)
    {
        Debug.Assert(bits.Length == Words);
        if (Avx2.IsSupported)
        {
            ref byte source = ref Unsafe.As<ulong, byte>(ref MemoryMarshal.GetReference(bits));
            Vector256<byte> sums = Vector256<byte>.Zero;
            for (nuint i = 0; i < Bytes; i += (nuint)Vector256<byte>.Count)
                sums += CountBytes(Vector256.LoadUnsafe(ref source, i));
            return AddUp(sums);
        }

        return CountScalar(bits);
    }

    /// <summary>The scalar twin of <see cref="Count"/>.</summary>
    public static int CountScalar(ReadOnlySpan<ulong> bits)
    {
        int count = 0;
        foreach (ulong word in bits)
            count += BitOperations.PopCount(word);
        return count;
    }

    /// <summary>Counts the set bits of each byte, with a table of sixteen entries for each of its halves.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector256<byte> CountBytes(Vector256<byte> bits)
    {
        Vector256<byte> half = Vector256.Create((byte)15);
        Vector256<byte> table = Vector256.Create(
            (byte)0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
        return Avx2.Shuffle(table, bits & half) + Avx2.Shuffle(table, (bits.AsUInt16() >>> 4).AsByte() & half);
    }

    /// <summary>The sum of 32 bytes. Counts of up to 8 from sixteen vectors still fit into a byte.</summary>
    public static int AddUp(Vector256<byte> sums) =>
        (int)Vector256.Sum(Avx2.SumAbsoluteDifferences(sums, Vector256<byte>.Zero).AsUInt64());

    /// <summary>Number of bits set in both bitmaps; <paramref name="other"/> may be unaligned in a page.</summary>
    public static int CountBoth(ReadOnlySpan<ulong> bits, ReadOnlySpan<byte> other)
    {
        Debug.Assert(bits.Length == Words && other.Length == Bytes);
        if (!Avx2.IsSupported)
            return CountBothScalar(bits, other);

        ref byte left = ref Unsafe.As<ulong, byte>(ref MemoryMarshal.GetReference(bits));
        ref byte right = ref MemoryMarshal.GetReference(other);
        Vector256<byte> sums = Vector256<byte>.Zero;
        for (nuint i = 0; i < Bytes; i += (nuint)Vector256<byte>.Count)
            sums += CountBytes(Vector256.LoadUnsafe(ref left, i) & Vector256.LoadUnsafe(ref right, i));
        return AddUp(sums);
    }

    /// <summary>The scalar twin of <see cref="CountBoth"/>.</summary>
    public static int CountBothScalar(ReadOnlySpan<ulong> bits, ReadOnlySpan<byte> other)
    {
        Debug.Assert(bits.Length == Words && other.Length == Bytes, "both bitmaps are of a window");
        ReadOnlySpan<ulong> right = MemoryMarshal.Cast<byte, ulong>(other);
        int count = 0;
        for (int i = 0; i < Words; i++)
            count += BitOperations.PopCount(bits[i] & right[i]);
        return count;
    }

    /// <summary>Number of offsets whose bit is set.</summary>
    public static int CountIn(ReadOnlySpan<ulong> bits, ReadOnlySpan<ushort> offsets)
    {
        Debug.Assert(bits.Length == Words);

        // Two sums, and a mask instead of a bounds check: an offset beyond the window, which only damage can cause, is
        // counted as another one.
        ref ulong words = ref MemoryMarshal.GetReference(bits);
        ulong even = 0, odd = 0;
        int i = 0;
        for (; i + 1 < offsets.Length; i += 2)
        {
            even += Unsafe.Add(ref words, (offsets[i] >> 6) & (Words - 1)) >> offsets[i] & 1;
            odd += Unsafe.Add(ref words, (offsets[i + 1] >> 6) & (Words - 1)) >> offsets[i + 1] & 1;
        }

        if (i < offsets.Length)
            even += Unsafe.Add(ref words, (offsets[i] >> 6) & (Words - 1)) >> offsets[i] & 1;
        return (int)(even + odd);
    }

    /// <summary>Whether no bit is set.</summary>
    public static bool IsEmpty(ReadOnlySpan<ulong> bits) => !bits.ContainsAnyExcept(0UL);

    /// <summary>
    /// Number of bits set before <paramref name="offset"/>: the rank of the offset, by which its frequency is found.
    /// </summary>
    public static int Rank(ReadOnlySpan<ulong> bits, int offset)
    {
        Debug.Assert(bits.Length == Words, "the bitmap is of a window");
        int word = offset >> 6;
        int rank = BitOperations.PopCount(bits[word] & ((1UL << (offset & 63)) - 1));
        for (int i = 0; i < word; i++)
            rank += BitOperations.PopCount(bits[i]);
        return rank;
    }

    /// <summary>Like <see cref="Rank"/>, for several ascending offsets.</summary>
    public static void CopyRanks(ReadOnlySpan<ulong> bits, ReadOnlySpan<ushort> offsets, Span<ushort> ranks)
    {
        Debug.Assert(bits.Length == Words && ranks.Length >= offsets.Length, "each offset gets a rank");
        for (int i = 0, word = 0, before = 0; i < offsets.Length; i++)
        {
            int offset = offsets[i];
            for (; word < offset >> 6; word++)
                before += BitOperations.PopCount(bits[word]);
            ranks[i] = (ushort)(before + BitOperations.PopCount(bits[word] & ((1UL << offset) - 1)));
        }
    }

    /// <summary>Deposits the lowest bits of a number, in order, at the set bits of a mask.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Deposit(ulong bits, ulong places) =>
        Bmi2.X64.IsSupported ? Bmi2.X64.ParallelBitDeposit(bits, places) : DepositScalar(bits, places);

    /// <summary>The scalar twin of <see cref="Deposit"/>.</summary>
    public static ulong DepositScalar(ulong bits, ulong places)
    {
        ulong result = 0;
        for (; places != 0; places &= places - 1, bits >>= 1)
            result |= (bits & 1) * (places & (0 - places));
        return result;
    }

    /// <summary>One bit for each of the sixteen nibbles of eight bytes, lowest first, set if it is above 1.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong HalvesAboveOne(ulong halves)
    {
        const ulong Lowest = 0x1111_1111_1111_1111;
        ulong above = ((halves >> 1) | (halves >> 2) | (halves >> 3)) & Lowest;
        if (Bmi2.X64.IsSupported)
            return Bmi2.X64.ParallelBitExtract(above, Lowest);

        ulong result = 0;
        for (int i = 0; i < 16; i++)
            result |= (above >> (4 * i) & 1) << i;
        return result;
    }

    /// <summary>Returns a bit for each of 64 bytes, set if the byte is not above a limit.</summary>
    public static ulong NotAbove(ReadOnlySpan<byte> values, byte limit)
    {
        Debug.Assert(values.Length == Words);
        if (!Vector256.IsHardwareAccelerated)
            return NotAboveScalar(values, limit);

        ref byte first = ref MemoryMarshal.GetReference(values);
        Vector256<byte> most = Vector256.Create(limit);
        Vector256<byte> low = Vector256.LoadUnsafe(ref first),
            high = Vector256.LoadUnsafe(ref first, (nuint)Vector256<byte>.Count);
        return Vector256.Equals(Vector256.Min(low, most), low).ExtractMostSignificantBits()
            | ((ulong)Vector256.Equals(Vector256.Min(high, most), high).ExtractMostSignificantBits() << 32);
    }

    /// <summary>The scalar twin of <see cref="NotAbove"/>.</summary>
    public static ulong NotAboveScalar(ReadOnlySpan<byte> values, byte limit)
    {
        Debug.Assert(values.Length == Words, "each value has a bit");
        ulong result = 0;
        for (int i = 0; i < Words; i++)
            result |= (values[i] <= limit ? 1UL : 0) << i;
        return result;
    }

    /// <summary>Writes the offsets of all bits set, ascending, and returns their number.</summary>
    public static int Decode(ReadOnlySpan<ulong> bits, Span<ushort> offsets)
    {
        int count = 0;
        for (int i = 0; i < bits.Length; i++)
        {
            for (ulong word = bits[i]; word != 0; word &= word - 1)
                offsets[count++] = (ushort)((i << 6) + BitOperations.TrailingZeroCount(word));
        }

        return count;
    }

    /// <summary>Sets the bits of the offsets.</summary>
    public static void Set(Span<ulong> bits, ReadOnlySpan<ushort> offsets)
    {
        foreach (ushort offset in offsets)
            bits[offset >> 6] |= 1UL << (offset & 63);
    }

    /// <summary>Number of offsets that <see cref="SetPadded"/> may read after the last.</summary>
    public const int SetPadding = 7;

    /// <summary>Read from index 8 − n: eight values, 1 for the first n and 0 for the others.</summary>
    private static ReadOnlySpan<ulong> Ones => [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0];

    /// <summary>
    /// Sets the bits of the first <paramref name="count"/> offsets of a list followed by <see cref="SetPadding"/> readable
    /// offsets without meaning. Always processes eight at a time, so that no branch depends on the count within a step.
    /// </summary>
    public static void SetPadded(Span<ulong> bits, ReadOnlySpan<ushort> padded, int count)
    {
        Debug.Assert(bits.Length == Words && padded.Length >= count + SetPadding);
        const int Step = 8;
        ref ulong words = ref MemoryMarshal.GetReference(bits);
        ref ushort first = ref MemoryMarshal.GetReference(padded);
        for (int i = 0; i < count; i += Step)
        {
            ref ushort offsets = ref Unsafe.Add(ref first, i);
            ref ulong ones = ref Unsafe.Add(ref MemoryMarshal.GetReference(Ones), Math.Max(0, Step - (count - i)));
            Set(ref words, ref offsets, ref ones, 0);
            Set(ref words, ref offsets, ref ones, 1);
            Set(ref words, ref offsets, ref ones, 2);
            Set(ref words, ref offsets, ref ones, 3);
            Set(ref words, ref offsets, ref ones, 4);
            Set(ref words, ref offsets, ref ones, 5);
            Set(ref words, ref offsets, ref ones, 6);
            Set(ref words, ref offsets, ref ones, 7);
        }
    }

    /// <summary>Sets the bit of an offset; a meaningless offset sets no bit, in any word of the window.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Set(ref ulong words, ref ushort offsets, ref ulong ones, int place)
    {
        uint offset = Unsafe.Add(ref offsets, place);
        Unsafe.Add(ref words, (offset >> 6) & (Words - 1)) |= Unsafe.Add(ref ones, place) << (int)offset;
    }

    /// <summary>Clears the bits of the offsets.</summary>
    public static void Clear(Span<ulong> bits, ReadOnlySpan<ushort> offsets)
    {
        foreach (ushort offset in offsets)
            bits[offset >> 6] &= ~(1UL << (offset & 63));
    }
}
