using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Loops over levels: upper bounds of the scores in the 64 blocks of a window, rounded up to two bytes each, so that all
/// blocks of an index can be compared with a score as fast as they are read. Each vector form has a scalar twin.
/// </summary>
internal static class LevelKernels
{
    /// <summary>Blocks of a window.</summary>
    public const int Blocks = BoundKernels.Blocks;

    /// <summary>Bits of a level.</summary>
    public const int Bits = 16;

    /// <summary>The greatest level.</summary>
    public const int Greatest = (1 << Bits) - 1;

    /// <summary>Bits of the product of impact and weight that are below the level.</summary>
    public const int FractionBits = 8;

    private const int Lanes = 16;

    /// <summary>
    /// Adds the impact of each block, multiplied by the weight and rounded up, or a single impact to all blocks; returns the
    /// greatest level. The caller must ensure that no sum exceeds <see cref="Greatest"/>.
    /// </summary>
    public static ushort Add(ReadOnlySpan<byte> impacts, ushort weight, Span<ushort> levels)
    {
        Debug.Assert(impacts.Length is 1 or Blocks && levels.Length == Blocks);
        if (!Avx2.IsSupported)
            return AddScalar(impacts, weight, levels);

        ref byte source = ref MemoryMarshal.GetReference(impacts);
        ref ushort target = ref MemoryMarshal.GetReference(levels);
        Vector256<ushort> factor = Vector256.Create(weight),
            all = Vector256.Create((ushort)(impacts[0] << FractionBits)),
            most = Vector256<ushort>.Zero;
        for (nuint i = 0; i < Blocks; i += Lanes)
        {
            // The upper half of the product of an impact, shifted to the upper byte, is the product without its fraction.
            Vector256<ushort> upper = impacts.Length == 1
                ? all
                : Avx2.ConvertToVector256Int16(Vector128.LoadUnsafe(ref source, i)).AsUInt16() << FractionBits;
            Vector256<ushort> sums = Vector256.LoadUnsafe(ref target, i) + Avx2.MultiplyHigh(upper, factor)
                + Vector256<ushort>.One;
            sums.StoreUnsafe(ref target, i);
            most = Vector256.Max(most, sums);
        }

        return Largest(most);
    }

    /// <summary>The scalar twin of <see cref="Add"/>.</summary>
    public static ushort AddScalar(ReadOnlySpan<byte> impacts, ushort weight, Span<ushort> levels)
    {
        Debug.Assert(impacts.Length is 1 or Blocks && levels.Length == Blocks, "each block has a level");
        ushort most = 0;
        for (int i = 0; i < Blocks; i++)
        {
            int impact = impacts[impacts.Length == 1 ? 0 : i];
            levels[i] = checked((ushort)(levels[i] + (impact * weight >> FractionBits) + 1));
            most = Math.Max(most, levels[i]);
        }

        return most;
    }

    /// <summary>
    /// Removes the levels that are not below <paramref name="least"/>: sets them to 0 and returns a bit for each of these
    /// blocks, and the greatest of the remaining levels.
    /// </summary>
    public static ulong Take(Span<ushort> levels, ushort least, out ushort greatest)
    {
        Debug.Assert(levels.Length == Blocks && least > 0);
        if (!Avx2.IsSupported)
            return TakeScalar(levels, least, out greatest);

        ref ushort first = ref MemoryMarshal.GetReference(levels);
        Vector256<ushort> limit = Vector256.Create(least), most = Vector256<ushort>.Zero;
        ulong taken = 0;
        for (int i = 0; i < Blocks; i += Lanes)
        {
            Vector256<ushort> mine = Vector256.LoadUnsafe(ref first, (nuint)i), stays = Vector256.LessThan(mine, limit);
            taken |= (ulong)(ushort)~stays.ExtractMostSignificantBits() << i;
            mine &= stays;
            mine.StoreUnsafe(ref first, (nuint)i);
            most = Vector256.Max(most, mine);
        }

        greatest = Largest(most);
        return taken;
    }

    /// <summary>The scalar twin of <see cref="Take"/>.</summary>
    public static ulong TakeScalar(Span<ushort> levels, ushort least, out ushort greatest)
    {
        Debug.Assert(levels.Length == Blocks && least > 0, "each block has a level");
        ulong taken = 0;
        greatest = 0;
        for (int i = 0; i < Blocks; i++)
        {
            taken |= (levels[i] >= least ? 1UL : 0) << i;
            levels[i] = levels[i] >= least ? (ushort)0 : levels[i];
            greatest = Math.Max(greatest, levels[i]);
        }

        return taken;
    }

    private static ushort Largest(Vector256<ushort> levels)
    {
        Vector128<ushort> most = Vector128.Max(levels.GetLower(), levels.GetUpper());
        most = Vector128.Max(most, (most.AsUInt64() >>> 32).AsUInt16());
        most = Vector128.Max(most, (most.AsUInt32() >>> 16).AsUInt16());
        return Math.Max(most[0], most[4]);
    }
}
