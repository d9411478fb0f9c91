using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Adds up the frequencies of all postings of a window as stored: for each rank, the sum of the frequencies before it, which
/// is where its positions begin, and after the last the total. Each vector form has a scalar twin.
/// </summary>
internal static class StartKernels
{
    /// <summary>Number of sums written at a time; an output must have room for as many after the last.</summary>
    public const int Room = 16;

    private const ulong EachHalf = 0x1111111111111111;
    private const ulong LowHalves = 0x0F0F0F0F0F0F0F0F;

    /// <summary>Writes the sums for frequencies that are all 1.</summary>
    public static void Count(int count, Span<ushort> starts)
    {
        Debug.Assert(count >= 0 && starts.Length > count, "each rank gets a start, and the end another");
        for (int i = 0; i <= count; i++)
            starts[i] = (ushort)i;
    }

    /// <summary>Writes the sums for frequencies of one byte each.</summary>
    public static void AddBytes(ReadOnlySpan<byte> values, int count, Span<ushort> starts)
    {
        Debug.Assert(values.Length >= count && starts.Length >= count + Room);
        starts[0] = 0;
        int i = 0;
        if (Avx2.IsSupported)
        {
            ref byte source = ref MemoryMarshal.GetReference(values);
            ref ushort target = ref MemoryMarshal.GetReference(starts);
            for (; i + Vector128<byte>.Count <= count; i += Vector128<byte>.Count)
                AddSixteen(Vector128.LoadUnsafe(ref source, (nuint)i), ref target, i);
        }

        AddBytesScalar(values, i, count, starts);
    }

    /// <summary>The scalar twin of <see cref="AddBytes"/>, from rank <paramref name="from"/> on.</summary>
    public static void AddBytesScalar(ReadOnlySpan<byte> values, int from, int count, Span<ushort> starts)
    {
        Debug.Assert(from >= 0 && starts.Length > count, "each rank gets a start, and the end another");
        for (int i = from; i < count; i++)
            starts[i + 1] = (ushort)(starts[i] + values[i]);
    }

    /// <summary>Writes the sums for frequencies of half a byte each, the lower half first.</summary>
    public static void AddHalves(ReadOnlySpan<byte> values, int count, Span<ushort> starts)
    {
        Debug.Assert(values.Length >= (count + 1) / 2 && starts.Length >= count + Room);
        starts[0] = 0;
        int i = 0;
        if (Avx2.IsSupported)
        {
            ref ushort target = ref MemoryMarshal.GetReference(starts);
            for (; i + Vector128<byte>.Count <= count; i += Vector128<byte>.Count)
                AddSixteen(Unpack(BinaryPrimitives.ReadUInt64LittleEndian(values[(i >> 1)..])), ref target, i);
        }

        AddHalvesScalar(values, i, count, starts);
    }

    /// <summary>The scalar twin of <see cref="AddHalves"/>, from rank <paramref name="from"/> on.</summary>
    public static void AddHalvesScalar(ReadOnlySpan<byte> values, int from, int count, Span<ushort> starts)
    {
        Debug.Assert(from >= 0 && starts.Length > count, "each rank gets a start, and the end another");
        for (int i = from; i < count; i++)
            starts[i + 1] = (ushort)(starts[i] + HalfAt(values, i));
    }

    /// <summary>
    /// Writes the sums for frequencies that are 1 where a bit is not set; for each bit that is set, half a byte follows.
    /// </summary>
    public static void AddPlane(ReadOnlySpan<byte> plane, ReadOnlySpan<byte> values, int count, Span<ushort> starts)
    {
        Debug.Assert(plane.Length * 8 >= count && starts.Length >= count + Room);
        starts[0] = 0;
        int i = 0, next = 0;
        if (Avx2.IsSupported && Bmi2.X64.IsSupported)
        {
            ref ushort target = ref MemoryMarshal.GetReference(starts);

            // Sixteen halves from any half on lie within nine bytes.
            for (; i + Vector128<byte>.Count <= count && (next >> 1) + sizeof(ulong) < values.Length; i += Vector128<byte>.Count)
            {
                uint bits = BinaryPrimitives.ReadUInt16LittleEndian(plane[(i >> 3)..]);
                ulong above = Bmi2.X64.ParallelBitDeposit(bits, EachHalf);
                ulong halves = BinaryPrimitives.ReadUInt64LittleEndian(values[(next >> 1)..]);
                if ((next & 1) != 0)
                    halves = (halves >> 4) | ((ulong)values[(next >> 1) + sizeof(ulong)] << 60);
                AddSixteen(Unpack(Bmi2.X64.ParallelBitDeposit(halves, above * 15) | (EachHalf & ~above)), ref target, i);
                next += BitOperations.PopCount(bits);
            }
        }

        AddPlaneScalar(plane, values, i, next, count, starts);
    }

    /// <summary>
    /// The scalar twin of <see cref="AddPlane"/>, from rank <paramref name="from"/> on, before which <paramref name="next"/>
    /// bits are set.
    /// </summary>
    public static void AddPlaneScalar(
        ReadOnlySpan<byte> plane, ReadOnlySpan<byte> values, int from, int next, int count, Span<ushort> starts)
    {
        Debug.Assert(from >= 0 && next >= 0 && starts.Length > count, "each rank gets a start, and the end another");
        for (int i = from; i < count; i++)
            starts[i + 1] = (ushort)(starts[i] + ((plane[i >> 3] >> (i & 7) & 1) == 0 ? 1 : HalfAt(values, next++)));
    }

    /// <summary>
    /// Writes for each group of sixteen halves the sum of the halves before it, and after the last group the total, which it
    /// also returns. All groups but the last must be whole.
    /// </summary>
    /// <param name="values">The halves.</param>
    /// <param name="sums">The sums.</param>
    /// <param name="sum">The first sum.</param>
    public static int AddGroups(ReadOnlySpan<byte> values, Span<int> sums, int sum = 0)
    {
        Debug.Assert(sums.Length > (values.Length + 7) / sizeof(ulong), "each group gets a sum, and the end another");
        int group = 0;
        if (Avx2.IsSupported)
        {
            ref byte source = ref MemoryMarshal.GetReference(values);
            Vector256<byte> low = Vector256.Create((byte)15);
            for (; (group << 3) + Vector256<byte>.Count <= values.Length; group += 4)
            {
                Vector256<byte> halves = Vector256.LoadUnsafe(ref source, (nuint)(group << 3));
                Vector256<ulong> four = Avx2.SumAbsoluteDifferences(
                    (halves & low) + ((halves.AsUInt16() >>> 4).AsByte() & low), Vector256<byte>.Zero).AsUInt64();
                sums[group] = sum;
                sums[group + 1] = sum += (int)four[0];
                sums[group + 2] = sum += (int)four[1];
                sums[group + 3] = sum += (int)four[2];
                sum += (int)four[3];
            }
        }

        return AddGroupsScalar(values, group, sum, sums);
    }

    /// <summary>The scalar twin of <see cref="AddGroups"/>, from a group on, with the sum of the groups before it.</summary>
    public static int AddGroupsScalar(ReadOnlySpan<byte> values, int group, int sum, Span<int> sums)
    {
        // After the last group, the total is written as well.
        for (int place = group << 3; ; place += sizeof(ulong))
        {
            sums[group++] = sum;
            if (place >= values.Length)
                return sum;
            if (place <= values.Length - sizeof(ulong))
            {
                sum += AddUp(BinaryPrimitives.ReadUInt64LittleEndian(values[place..]));
                continue;
            }

            for (int i = place; i < Math.Min(place + sizeof(ulong), values.Length); i++)
                sum += (values[i] & 15) + (values[i] >> 4);
        }
    }

    /// <summary>The sum of sixteen halves: at most 240, so it fits into a byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int AddUp(ulong halves) =>
        (int)((((halves & LowHalves) + ((halves >> 4) & LowHalves)) * 0x0101010101010101) >> 56);

    /// <summary>The sum of the first <paramref name="count"/> bytes, at most sixteen.</summary>
    public static int SumOfBytes(ReadOnlySpan<byte> values, int count)
    {
        Debug.Assert(count is >= 0 and <= 16, "a vector holds the bytes");
        if (values.Length < Vector128<byte>.Count)
            return SumOfBytesScalar(values, count);
        Vector128<byte> wanted = Vector128.Create(values)
            & Vector128.LessThan(Vector128<byte>.Indices, Vector128.Create((byte)count));
        return Vector128.Sum(Vector128.WidenLower(wanted) + Vector128.WidenUpper(wanted));
    }

    /// <summary>The scalar twin of <see cref="SumOfBytes"/>.</summary>
    public static int SumOfBytesScalar(ReadOnlySpan<byte> values, int count)
    {
        int sum = 0;
        foreach (byte value in values[..count])
            sum += value;
        return sum;
    }

    private static int HalfAt(ReadOnlySpan<byte> values, int place) => values[place >> 1] >> ((place & 1) * 4) & 15;

    /// <summary>Expands each half to a byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<byte> Unpack(ulong halves)
    {
        Vector128<byte> low = Vector128.CreateScalar(halves & LowHalves).AsByte();
        return Sse2.UnpackLow(low, Vector128.CreateScalar((halves >> 4) & LowHalves).AsByte());
    }

    /// <summary>
    /// Writes the sums after each of sixteen frequencies, starting from the sum at <paramref name="place"/>.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void AddSixteen(Vector128<byte> frequencies, ref ushort starts, int place)
    {
        Vector256<byte> sums = Avx2.ConvertToVector256Int16(frequencies).AsByte();
        sums = (sums.AsUInt16() + Avx2.ShiftLeftLogical128BitLane(sums, 2).AsUInt16()).AsByte();
        sums = (sums.AsUInt16() + Avx2.ShiftLeftLogical128BitLane(sums, 4).AsUInt16()).AsByte();
        sums = (sums.AsUInt16() + Avx2.ShiftLeftLogical128BitLane(sums, 8).AsUInt16()).AsByte();

        // The upper eight lack the sum of the lower eight.
        Vector256<byte> last = Vector256.Create(
            (byte)14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15,
            14, 15, 14, 15);
        Vector256<ushort> lower = Avx2.Shuffle(Avx2.Permute2x128(sums, sums, 0x08), last).AsUInt16();
        (sums.AsUInt16() + lower + Vector256.Create(Unsafe.Add(ref starts, place))).StoreUnsafe(ref starts, (nuint)place + 1);
    }
}
