using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Kernels;

internal static partial class PlaneKernels
{
    /// <summary>Like <see cref="CountNarrow"/>, with vectors of twice the width.</summary>
    private static unsafe void CountWide(ulong* entries, ulong* planes, int words, int planeWords, int bits, Span<long> counts)
    {
        ulong* second = planes + planeWords,
            third = second + planeWords,
            fourth = third + planeWords,
            fifth = fourth + planeWords,
            sixth = fifth + planeWords;
        for (int number = 0; number < counts.Length; number += 4)
        {
            Vector512<ulong> not3 = Vector512.Create((ulong)(number >> 2 & 1) - 1),
                not4 = Vector512.Create((ulong)(number >> 3 & 1) - 1),
                not5 = Vector512.Create((ulong)(number >> 4 & 1) - 1),
                not6 = Vector512.Create((ulong)(number >> 5 & 1) - 1);
            Vector512<byte> sum0 = Vector512<byte>.Zero, sum1 = sum0, sum2 = sum0, sum3 = sum0;
            for (int i = 0; i < words; i += WideLanes)
            {
                Vector512<ulong> mine = Vector512.Load(entries + i),
                    low = Vector512.Load(planes + i),
                    high = bits > 1 ? Vector512.Load(second + i) : Vector512<ulong>.Zero;
                if (bits > 2)
                    mine &= Vector512.Load(third + i) ^ not3;
                if (bits > 3)
                    mine &= Vector512.Load(fourth + i) ^ not4;
                if (bits > 4)
                    mine &= Vector512.Load(fifth + i) ^ not5;
                if (bits > 5)
                    mine &= Vector512.Load(sixth + i) ^ not6;
                Vector512<ulong> without = Vector512.AndNot(mine, high), with = mine & high;
                sum0 += CountBytes(Vector512.AndNot(without, low).AsByte());
                sum1 += CountBytes((without & low).AsByte());
                sum2 += CountBytes(Vector512.AndNot(with, low).AsByte());
                sum3 += CountBytes((with & low).AsByte());
            }

            Add(counts, number, AddUp(sum0), AddUp(sum1), AddUp(sum2), AddUp(sum3));
        }
    }

    private static unsafe void CountTogether(
        ReadOnlySpan<ulong> entries, ReadOnlySpan<HeldBytes> blocks, int bits, Span<long> counts)
    {
        ulong** planes = stackalloc ulong*[blocks.Length];
        for (int i = 0; i < blocks.Length; i++)
        {
            ReadOnlySpan<byte> bytes = blocks[i].Span;
            ArgumentOutOfRangeException.ThrowIfNotEqual(bytes.Length, MaxWords * bits * sizeof(ulong));
            planes[i] = (ulong*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(bytes)); // held bytes are not moved
        }

        fixed (ulong* asked = entries)
        {
            for (int number = 0; number < counts.Length; number += 4)
                CountFour(asked, planes, blocks.Length, bits, number, counts);
        }
    }

    /// <summary>Counts four numbers at once, which differ in the two lowest bits.</summary>
    private static unsafe void CountFour(ulong* entries, ulong** blocks, int count, int bits, int number, Span<long> counts)
    {
        Tally first = default, second = default, third = default, fourth = default;
        for (int block = 0; block < count; block++, entries += MaxWords)
        {
            ulong* planes = blocks[block];
            Part(
                entries, planes, bits, number, out Vector512<ulong> without0, out Vector512<ulong> with0,
                out Vector512<ulong> low0);
            Part(
                entries + WideLanes, planes + WideLanes, bits, number, out Vector512<ulong> without1, out Vector512<ulong> with1,
                out Vector512<ulong> low1);
            Part(
                entries + (2 * WideLanes), planes + (2 * WideLanes), bits, number, out Vector512<ulong> without2,
                out Vector512<ulong> with2, out Vector512<ulong> low2);
            Part(
                entries + (3 * WideLanes), planes + (3 * WideLanes), bits, number, out Vector512<ulong> without3,
                out Vector512<ulong> with3, out Vector512<ulong> low3);
            first.Add(
                Vector512.AndNot(without0, low0), Vector512.AndNot(without1, low1), Vector512.AndNot(without2, low2),
                Vector512.AndNot(without3, low3));
            second.Add(without0 & low0, without1 & low1, without2 & low2, without3 & low3);
            third.Add(
                Vector512.AndNot(with0, low0), Vector512.AndNot(with1, low1), Vector512.AndNot(with2, low2),
                Vector512.AndNot(with3, low3));
            fourth.Add(with0 & low0, with1 & low1, with2 & low2, with3 & low3);
        }

        Add(counts, number, first.Total, second.Total, third.Total, fourth.Total);
    }

    /// <summary>
    /// Returns the entries of a vector whose bits above the lowest two equal those of a number, split by the second lowest
    /// bit, and the plane of the lowest bit.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static unsafe void Part(
        ulong* entries, ulong* planes, int bits, int number, out Vector512<ulong> without, out Vector512<ulong> with,
        out Vector512<ulong> low)
    {
        Vector512<ulong> mine = Vector512.Load(entries);
        if (bits > 2)
            mine &= Vector512.Load(planes + (2 * MaxWords)) ^ Vector512.Create((ulong)(number >> 2 & 1) - 1);
        if (bits > 3)
            mine &= Vector512.Load(planes + (3 * MaxWords)) ^ Vector512.Create((ulong)(number >> 3 & 1) - 1);
        if (bits > 4)
            mine &= Vector512.Load(planes + (4 * MaxWords)) ^ Vector512.Create((ulong)(number >> 4 & 1) - 1);
        if (bits > 5)
            mine &= Vector512.Load(planes + (5 * MaxWords)) ^ Vector512.Create((ulong)(number >> 5 & 1) - 1);
        Vector512<ulong> high = bits > 1 ? Vector512.Load(planes + MaxWords) : Vector512<ulong>.Zero;
        (without, with, low) = (Vector512.AndNot(mine, high), mine & high, Vector512.Load(planes));
    }

    /// <summary>
    /// Counts set bits by adding vectors as bits in place: bits worth one and two are kept as vectors, and bits worth four
    /// are counted by byte (Harley and Seal).
    /// </summary>
    private struct Tally
    {
        private Vector512<ulong> _ones;
        private Vector512<ulong> _twos;
        private Vector512<byte> _fours;

        public readonly int Total =>
            AddUp(CountBytes(_ones.AsByte())) + (2 * AddUp(CountBytes(_twos.AsByte()))) + (4 * AddUp(_fours));

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Add(Vector512<ulong> first, Vector512<ulong> second, Vector512<ulong> third, Vector512<ulong> fourth)
        {
            const byte Sum = 0x96, Most = 0xE8;
            Vector512<ulong> carry = Avx512F.TernaryLogic(_ones, first, second, Most);
            _ones = Avx512F.TernaryLogic(_ones, first, second, Sum);
            Vector512<ulong> other = Avx512F.TernaryLogic(_ones, third, fourth, Most);
            _ones = Avx512F.TernaryLogic(_ones, third, fourth, Sum);
            _fours += CountBytes(Avx512F.TernaryLogic(_twos, carry, other, Most).AsByte());
            _twos = Avx512F.TernaryLogic(_twos, carry, other, Sum);
        }
    }

    /// <summary>Counts the set bits of each byte, with a table of sixteen entries for each of its halves.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector512<byte> CountBytes(Vector512<byte> bits)
    {
        Vector512<byte> half = Vector512.Create((byte)15);
        Vector128<byte> sixteen = Vector128.Create((byte)0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
        Vector512<byte> table = Vector512.Create(Vector256.Create(sixteen, sixteen), Vector256.Create(sixteen, sixteen));
        return Avx512BW.Shuffle(table, bits & half) + Avx512BW.Shuffle(table, (bits.AsUInt16() >>> 4).AsByte() & half);
    }

    /// <summary>The sum of 64 bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int AddUp(Vector512<byte> sums) =>
        (int)Vector512.Sum(Avx512BW.SumAbsoluteDifferences(sums, Vector512<byte>.Zero).AsUInt64());
}
