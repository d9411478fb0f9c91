using System.Diagnostics;
using System.Numerics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Counts entries by a small number that each has. Every bit of the numbers is stored as a separate bitmap (bit plane).
/// </summary>
internal static partial class PlaneKernels
{
    /// <summary>Most bits of a number.</summary>
    public const int MaxBits = 6;

    /// <summary>Words of the longest bitmap.</summary>
    public const int MaxWords = 32;

    /// <summary>Fewer blocks than this are counted one by one.</summary>
    private const int LeastTogether = 3;

    private const int Lanes = 4;
    private const int WideLanes = 8;

    /// <summary>For each number, adds to its count how many of the entries have it.</summary>
    /// <param name="entries">A bit for each entry, set if it is to be counted. As many words as a bitmap has.</param>
    /// <param name="planes">The bitmaps, that of the lowest bit first.</param>
    /// <param name="bits">Their number.</param>
    /// <param name="counts">The counts by number. Entries with other numbers are ignored.</param>
    public static void Count(ReadOnlySpan<ulong> entries, ReadOnlySpan<byte> planes, int bits, Span<long> counts)
    {
        Debug.Assert(bits is >= 1 and <= MaxBits && entries.Length <= MaxWords);
        ArgumentOutOfRangeException.ThrowIfNotEqual(planes.Length, entries.Length * bits * sizeof(ulong));
        int inVectors = Avx512BW.IsSupported ? entries.Length & -WideLanes : Avx2.IsSupported ? entries.Length & -Lanes : 0;
        if (inVectors > 0)
            CountVectors(entries[..inVectors], planes, entries.Length, bits, counts);
        CountScalar(entries, planes, bits, counts, inVectors);
    }

    /// <summary>Most blocks that are counted together: each adds at most eight to a byte.</summary>
    public const int MaxBlocks = 16;

    /// <summary>
    /// Like <see cref="Count(ReadOnlySpan{ulong}, ReadOnlySpan{byte}, int, Span{long})"/>, for several blocks of
    /// <see cref="MaxWords"/> words whose numbers have the same meaning. Most additions are done on bits before the bits are
    /// counted.
    /// </summary>
    /// <param name="entries">The entries of all blocks, one block after another.</param>
    /// <param name="blocks">The bitmaps of each block.</param>
    /// <param name="bits">Their number in each.</param>
    /// <param name="counts">The counts by number. Entries with other numbers are ignored.</param>
    public static void Count(ReadOnlySpan<ulong> entries, ReadOnlySpan<HeldBytes> blocks, int bits, Span<long> counts)
    {
        Debug.Assert(bits is >= 1 and <= MaxBits && blocks.Length <= MaxBlocks);
        ArgumentOutOfRangeException.ThrowIfNotEqual(entries.Length, blocks.Length * MaxWords);
        if (Avx512BW.IsSupported && blocks.Length >= LeastTogether)
        {
            CountTogether(entries, blocks, bits, counts);
            return;
        }

        for (int i = 0; i < blocks.Length; i++)
            Count(entries.Slice(i * MaxWords, MaxWords), blocks[i].Span, bits, counts);
    }

    /// <summary>
    /// The scalar twin of <see cref="Count(ReadOnlySpan{ulong}, ReadOnlySpan{byte}, int, Span{long})"/>, from word
    /// <paramref name="from"/> on.
    /// </summary>
    public static void CountScalar(
        ReadOnlySpan<ulong> entries, ReadOnlySpan<byte> planes, int bits, Span<long> counts, int from = 0)
    {
        Debug.Assert(
            bits is >= 1 and <= MaxBits && planes.Length == entries.Length * bits * sizeof(ulong),
            "each plane has a bit for each entry");
        Debug.Assert(from >= 0 && from <= entries.Length, "the scalar twin begins where the vectors end");
        ReadOnlySpan<ulong> words = MemoryMarshal.Cast<byte, ulong>(planes);
        for (int word = from; word < entries.Length; word++)
        {
            for (int number = 0; number < counts.Length && number >> bits == 0; number++)
            {
                ulong mine = entries[word];
                for (int plane = 0; plane < bits; plane++)
                    mine &= (number >> plane & 1) != 0
                        ? words[(plane * entries.Length) + word]
                        : ~words[(plane * entries.Length) + word];
                counts[number] += BitOperations.PopCount(mine);
            }
        }
    }

    private static unsafe void CountVectors(
        ReadOnlySpan<ulong> entries, ReadOnlySpan<byte> planes, int planeWords, int bits, Span<long> counts)
    {
        fixed (ulong* asked = entries)
        fixed (byte* first = planes)
        {
            if (Avx512BW.IsSupported)
                CountWide(asked, (ulong*)first, entries.Length, planeWords, bits, counts);
            else
                CountNarrow(asked, (ulong*)first, entries.Length, planeWords, bits, counts);
        }
    }

    /// <summary>Counts four numbers at once, which differ in the two lowest bits.</summary>
    private static unsafe void CountNarrow(ulong* entries, ulong* planes, int words, int planeWords, int bits, Span<long> counts)
    {
        ulong* second = planes + planeWords,
            third = second + planeWords,
            fourth = third + planeWords,
            fifth = fourth + planeWords,
            sixth = fifth + planeWords;
        for (int number = 0; number < counts.Length; number += 4)
        {
            Vector256<ulong> not3 = Vector256.Create((ulong)(number >> 2 & 1) - 1),
                not4 = Vector256.Create((ulong)(number >> 3 & 1) - 1),
                not5 = Vector256.Create((ulong)(number >> 4 & 1) - 1),
                not6 = Vector256.Create((ulong)(number >> 5 & 1) - 1);
            Vector256<byte> sum0 = Vector256<byte>.Zero, sum1 = sum0, sum2 = sum0, sum3 = sum0;
            for (int i = 0; i < words; i += Lanes)
            {
                Vector256<ulong> mine = Vector256.Load(entries + i),
                    low = Vector256.Load(planes + i),
                    high = bits > 1 ? Vector256.Load(second + i) : Vector256<ulong>.Zero;
                if (bits > 2)
                    mine &= Vector256.Load(third + i) ^ not3;
                if (bits > 3)
                    mine &= Vector256.Load(fourth + i) ^ not4;
                if (bits > 4)
                    mine &= Vector256.Load(fifth + i) ^ not5;
                if (bits > 5)
                    mine &= Vector256.Load(sixth + i) ^ not6;
                Vector256<ulong> without = Vector256.AndNot(mine, high), with = mine & high;
                sum0 += BitmapKernels.CountBytes(Vector256.AndNot(without, low).AsByte());
                sum1 += BitmapKernels.CountBytes((without & low).AsByte());
                sum2 += BitmapKernels.CountBytes(Vector256.AndNot(with, low).AsByte());
                sum3 += BitmapKernels.CountBytes((with & low).AsByte());
            }

            Add(
                counts, number, BitmapKernels.AddUp(sum0), BitmapKernels.AddUp(sum1), BitmapKernels.AddUp(sum2),
                BitmapKernels.AddUp(sum3));
        }
    }

    private static void Add(Span<long> counts, int number, int first, int second, int third, int fourth)
    {
        counts[number] += first;
        if (number + 1 < counts.Length)
            counts[number + 1] += second;
        if (number + 2 < counts.Length)
            counts[number + 2] += third;
        if (number + 3 < counts.Length)
            counts[number + 3] += fourth;
    }
}
