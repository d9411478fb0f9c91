using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Storage.Kernels;

/// <summary>Moves the selected lanes of a vector to its front, in order. The lanes after them are undefined.</summary>
internal static class VectorCompress
{
    /// <summary>
    /// For each set of four lanes to drop, the 32-bit lanes to keep. AVX2 has no compress instruction, so a table-driven
    /// permute is used.
    /// </summary>
    private static ReadOnlySpan<int> FourLanes =>
    [
        0, 1, 2, 3, 4, 5, 6, 7,
        2, 3, 4, 5, 6, 7, 0, 1,
        0, 1, 4, 5, 6, 7, 0, 1,
        4, 5, 6, 7, 0, 1, 0, 1,
        0, 1, 2, 3, 6, 7, 0, 1,
        2, 3, 6, 7, 0, 1, 0, 1,
        0, 1, 6, 7, 0, 1, 0, 1,
        6, 7, 0, 1, 0, 1, 0, 1,
        0, 1, 2, 3, 4, 5, 0, 1,
        2, 3, 4, 5, 0, 1, 0, 1,
        0, 1, 4, 5, 0, 1, 0, 1,
        4, 5, 0, 1, 0, 1, 0, 1,
        0, 1, 2, 3, 0, 1, 0, 1,
        2, 3, 0, 1, 0, 1, 0, 1,
        0, 1, 0, 1, 0, 1, 0, 1,
        0, 1, 0, 1, 0, 1, 0, 1,
    ];

    /// <summary>For each set of eight 16-bit lanes to keep, the indexes of their bytes: 4 KiB, computed once.</summary>
    private static readonly Vector128<byte>[] _eightLanes = MakeEightLanes();

    /// <summary>Drops the lanes whose bits are set. Requires AVX2.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector256<long> Drop(Vector256<long> lanes, uint dropped)
    {
        ref int row = ref Unsafe.Add(ref MemoryMarshal.GetReference(FourLanes), (nint)dropped * Vector256<int>.Count);
        return Avx2.PermuteVar8x32(lanes.AsInt32(), Vector256.LoadUnsafe(ref row)).AsInt64();
    }

    /// <summary>
    /// Stores the lanes whose bits are set. Returns their number. May write eight lanes at the destination and eight after
    /// those kept from the lower half. Requires AVX2.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Keep(Vector256<ushort> lanes, uint kept, ref ushort destination)
    {
        Ssse3.Shuffle(lanes.GetLower().AsByte(), _eightLanes[kept & 0xFF]).AsUInt16().StoreUnsafe(ref destination);
        int lower = BitOperations.PopCount(kept & 0xFF);
        Ssse3.Shuffle(lanes.GetUpper().AsByte(), _eightLanes[kept >> 8]).AsUInt16().StoreUnsafe(ref destination, (nuint)lower);
        return lower + BitOperations.PopCount(kept >> 8);
    }

    private static Vector128<byte>[] MakeEightLanes()
    {
        var rows = new Vector128<byte>[256];
        Span<byte> row = stackalloc byte[Vector128<byte>.Count];
        for (int kept = 0; kept < rows.Length; kept++)
        {
            row.Clear();
            int at = 0;
            for (int lane = 0; lane < 8; lane++)
            {
                if ((kept >> lane & 1) == 0)
                    continue;

                row[at++] = (byte)(2 * lane);
                row[at++] = (byte)((2 * lane) + 1);
            }

            rows[kept] = Vector128.Create<byte>(row);
        }

        return rows;
    }
}
