using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Intersects the windows of two lists, down to those in which both may have a common entry. Most windows of lists with few
/// entries per window have none; comparing all entries of one with all of the other at once shows that without branching on their
/// number.
/// </summary>
internal static class MeetKernels
{
    /// <summary>Entries of a window compared at once. Windows with more are assumed to have a common entry.</summary>
    private const int Lanes = 8, ManyLanes = 16;

    /// <summary>
    /// Moves to the first window that both lists have and in which they may have a common entry; false if one has no more
    /// windows. The results with and without vector instructions differ only in windows without a common entry, some of
    /// which may be returned.
    /// </summary>
    /// <param name="one">The first list.</param>
    /// <param name="oneAt">Its current index in the directory; receives the new one.</param>
    /// <param name="other">The second list.</param>
    /// <param name="otherAt">Like <paramref name="oneAt"/>, for the second list.</param>
    /// <param name="apart">The number from which windows of the second list are counted minus that of the first list.</param>
    public static bool Next(in WindowRun one, ref int oneAt, in WindowRun other, ref int otherAt, int apart)
    {
        Debug.Assert(oneAt >= 0 && otherAt >= 0, "a place is of a window, or past the last");
        Debug.Assert(apart is >= -byte.MaxValue and <= byte.MaxValue, "segments that are further apart have no window in common");
        int i = oneAt, j = otherAt;
        bool found = false;
        if (i < one.Directory.Length && j < other.Directory.Length)
            found = Avx2.IsSupported ? Next256(one, ref i, other, ref j, apart) : NextScalar(one, ref i, other, ref j, apart);
        (oneAt, otherAt) = (i, j);
        return found;
    }

    /// <summary>The scalar twin of <see cref="Next"/>, which returns all windows that both lists have.</summary>
    public static bool NextScalar(in WindowRun one, ref int oneAt, in WindowRun other, ref int otherAt, int apart)
    {
        while (oneAt < one.Directory.Length && otherAt < other.Directory.Length)
        {
            int distance = (byte)one.Directory[oneAt] - (byte)other.Directory[otherAt] - apart;
            if (distance == 0)
                return true;
            oneAt += distance < 0 ? 1 : 0;
            otherAt += distance > 0 ? 1 : 0;
        }

        return false;
    }

    private static bool Next256(in WindowRun one, ref int oneAt, in WindowRun other, ref int otherAt, int apart)
    {
        // Starts are compared with these, so that nothing after the payloads is read.
        int few = sizeof(ushort) * Lanes, many = sizeof(ushort) * ManyLanes;
        int oneFew = one.Payloads.Length - few,
            otherFew = other.Payloads.Length - few,
            oneMany = one.Payloads.Length - many,
            otherMany = other.Payloads.Length - many;
        ref uint ofOne = ref MemoryMarshal.GetReference(one.Directory), ofOther = ref MemoryMarshal.GetReference(other.Directory);
        ref byte oneBytes = ref MemoryMarshal.GetReference(one.Payloads),
            otherBytes = ref MemoryMarshal.GetReference(other.Payloads);
        int oneEnd = one.Directory.Length, otherEnd = other.Directory.Length, i = oneAt, j = otherAt;
        Vector256<byte> first = Spread(0), second = Spread(4), third = Spread(8), fourth = Spread(12);
        bool found = false;
        while (i < oneEnd && j < otherEnd)
        {
            uint mine = Unsafe.Add(ref ofOne, i), others = Unsafe.Add(ref ofOther, j);
            int distance = (byte)mine - (byte)others - apart;
            if (distance != 0)
            {
                i += distance < 0 ? 1 : 0;
                j += distance > 0 ? 1 : 0;
                continue;
            }

            uint counts = ((mine | others) >> 8) & byte.MaxValue; // minus 1
            int oneStart = (int)(mine >> 16), otherStart = (int)(others >> 16);
            if (counts < Lanes && oneStart <= oneFew && otherStart <= otherFew)
            {
                // Eight entries of the first list, twice, are compared with one entry of the second list repeated in each
                // half.
                Vector128<ushort> left = Unsafe.ReadUnaligned<Vector128<ushort>>(ref Unsafe.Add(ref oneBytes, oneStart));
                Vector128<byte> right = Unsafe.ReadUnaligned<Vector128<byte>>(ref Unsafe.Add(ref otherBytes, otherStart));
                Vector256<ushort> all = Vector256.Create(left, left);
                Vector256<byte> each = Vector256.Create(right, right);
                Vector256<ushort> equal = Vector256.Equals(all, Avx2.Shuffle(each, first).AsUInt16())
                    | Vector256.Equals(all, Avx2.Shuffle(each, second).AsUInt16())
                    | Vector256.Equals(all, Avx2.Shuffle(each, third).AsUInt16())
                    | Vector256.Equals(all, Avx2.Shuffle(each, fourth).AsUInt16());
                found = equal != Vector256<ushort>.Zero;
            }
            else
            {
                found = counts >= ManyLanes || oneStart > oneMany || otherStart > otherMany
                    || Meet(ref Unsafe.Add(ref oneBytes, oneStart), ref Unsafe.Add(ref otherBytes, otherStart));
            }

            if (found)
                break;
            i++;
            j++;
        }

        (oneAt, otherAt) = (i, j);
        return found;
    }

    /// <summary>Whether one of sixteen entries equals one of sixteen others.</summary>
    private static bool Meet(ref byte one, ref byte other)
    {
        Vector256<ushort> left = Unsafe.ReadUnaligned<Vector256<ushort>>(ref one),
            swapped = Vector256.Create(left.GetUpper(), left.GetLower());
        Vector256<byte> right = Unsafe.ReadUnaligned<Vector256<byte>>(ref other);
        Vector256<ushort> equal = Vector256<ushort>.Zero;
        Vector256<byte> place = Vector256.Create((ushort)0x0100).AsByte();
        for (int i = 0; i < Lanes; i++)
        {
            // One of the lower eight entries in the lower half, one of the upper eight in the upper half.
            Vector256<ushort> each = Avx2.Shuffle(right, place).AsUInt16();
            equal |= Vector256.Equals(left, each) | Vector256.Equals(swapped, each);
            place += Vector256.Create((byte)2);
        }

        return equal != Vector256<ushort>.Zero;
    }

    /// <summary>
    /// A shuffle mask that repeats two bytes throughout the lower half, and the two bytes after them throughout the upper
    /// half.
    /// </summary>
    private static Vector256<byte> Spread(byte place)
    {
        var lower = Vector128.Create((ushort)(((place + 1) << 8) | place));
        return Vector256.Create(lower, lower + Vector128.Create((ushort)0x0202)).AsByte();
    }
}

/// <summary>Consecutive windows of a list.</summary>
/// <param name="directory">By window, ascending: its number (1 byte), entries minus 1 (1), start of its payload (2).</param>
/// <param name="payloads">The payloads. Each begins with its entries, 2 bytes each, ascending, if there are fewer than
/// 128.</param>
internal readonly ref struct WindowRun(ReadOnlySpan<uint> directory, ReadOnlySpan<byte> payloads)
{
    public readonly ReadOnlySpan<uint> Directory = directory;
    public readonly ReadOnlySpan<byte> Payloads = payloads;
}
