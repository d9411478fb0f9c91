using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

internal static partial class PlaneKernels
{
    /// <summary>As <see cref="CountNarrow"/>, twice as wide.</summary>
    private static unsafe void CountWide(ulong* entries, ulong* planes, int words, int planeWords, int bits, Span<long> counts)
    {
        ulong* second = planes + planeWords, third = second + planeWords, fourth = third + planeWords, fifth = fourth + planeWords, sixth = fifth + planeWords;
        for (int number = 0; number < counts.Length; number += 4)
        {
            Vector512<ulong> not3 = Vector512.Create((ulong)(number >> 2 & 1) - 1), not4 = Vector512.Create((ulong)(number >> 3 & 1) - 1), not5 = Vector512.Create((ulong)(number >> 4 & 1) - 1), not6 = Vector512.Create((ulong)(number >> 5 & 1) - 1);
            Vector512<byte> sum0 = Vector512<byte>.Zero, sum1 = sum0, sum2 = sum0, sum3 = sum0;
            for (int i = 0; i < words; i += WideLanes)
            {
                Vector512<ulong> mine = Vector512.Load(entries + i), low = Vector512.Load(planes + i), high = bits > 1 ? Vector512.Load(second + i) : Vector512<ulong>.Zero;
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

    /// <summary>By byte, how many of its bits are set: those of each half by a table of sixteen.</summary>
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
    private static int AddUp(Vector512<byte> sums) => (int)Vector512.Sum(Avx512BW.SumAbsoluteDifferences(sums, Vector512<byte>.Zero).AsUInt64());
}
