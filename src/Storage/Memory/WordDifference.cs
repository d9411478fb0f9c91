using System.Diagnostics;
using System.Numerics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Storage.Memory;

/// <summary>
/// Finds the words in which two blocks of memory differ, as one bit per word, many at a time. A commit uses it to write only
/// the changes of a page.
/// </summary>
internal static class WordDifference
{
    private const int BitsPerGroup = 64;

    /// <summary>
    /// Like <see cref="Find(ReadOnlySpan{ulong}, ReadOnlySpan{ulong}, Span{ulong})"/>, but compares only some lines. All
    /// others count as equal.
    /// </summary>
    public static void Find(ReadOnlySpan<ulong> left, ReadOnlySpan<ulong> right, LineSet lines, Span<ulong> different)
    {
        AssertSizes(left, right, different);
        if (lines.IsAll)
        {
            Find(left, right, different);
            return;
        }

        const int WordsPerLine = LineSet.LineBytes / sizeof(ulong);
        different.Clear();
        for (int half = 0; half < 2; half++)
        {
            for (ulong bits = lines.Half(half); bits != 0; bits &= bits - 1)
            {
                int line = (half * BitsPerGroup) + BitOperations.TrailingZeroCount(bits);
                ReadOnlySpan<ulong> a = left.Slice(line * WordsPerLine, WordsPerLine),
                    b = right.Slice(line * WordsPerLine, WordsPerLine);
                ulong unequal = ~(ulong)Vector512.Equals(Vector512.Create(a), Vector512.Create(b)).ExtractMostSignificantBits()
                    & byte.MaxValue;
                different[line / WordsPerLine] |= unequal << (line % WordsPerLine * WordsPerLine);
            }
        }
    }

    /// <summary>
    /// Sets bit i if <paramref name="left"/>[i] differs from <paramref name="right"/>[i]. The lengths must be equal and a
    /// multiple of 64.
    /// </summary>
    public static void Find(ReadOnlySpan<ulong> left, ReadOnlySpan<ulong> right, Span<ulong> different)
    {
        AssertSizes(left, right, different);
        if (Vector512.IsHardwareAccelerated)
            Find512(left, right, different);
        else if (Vector256.IsHardwareAccelerated)
            Find256(left, right, different);
        else
            FindScalar(left, right, different);
    }

    /// <summary>The scalar version.</summary>
    public static void FindScalar(ReadOnlySpan<ulong> left, ReadOnlySpan<ulong> right, Span<ulong> different)
    {
        for (int group = 0; group < left.Length / BitsPerGroup; group++)
        {
            ulong bits = 0;
            for (int i = 0; i < BitsPerGroup; i++)
                bits |= (left[(group * BitsPerGroup) + i] != right[(group * BitsPerGroup) + i] ? 1UL : 0) << i;
            different[group] = bits;
        }
    }

    /// <summary>Compares four words at a time.</summary>
    public static void Find256(ReadOnlySpan<ulong> left, ReadOnlySpan<ulong> right, Span<ulong> different)
    {
        ReadOnlySpan<Vector256<ulong>> a = MemoryMarshal.Cast<ulong, Vector256<ulong>>(left),
            b = MemoryMarshal.Cast<ulong, Vector256<ulong>>(right);
        int perGroup = BitsPerGroup / Vector256<ulong>.Count;
        for (int group = 0; group < left.Length / BitsPerGroup; group++)
        {
            ulong equal = 0;
            for (int i = 0; i < perGroup; i++)
                equal |= (ulong)Vector256.Equals(a[(group * perGroup) + i], b[(group * perGroup) + i])
                    .ExtractMostSignificantBits() << (i * Vector256<ulong>.Count);
            different[group] = ~equal;
        }
    }

    /// <summary>Compares eight words at a time.</summary>
    public static void Find512(ReadOnlySpan<ulong> left, ReadOnlySpan<ulong> right, Span<ulong> different)
    {
        ReadOnlySpan<Vector512<ulong>> a = MemoryMarshal.Cast<ulong, Vector512<ulong>>(left),
            b = MemoryMarshal.Cast<ulong, Vector512<ulong>>(right);
        int perGroup = BitsPerGroup / Vector512<ulong>.Count;
        for (int group = 0; group < left.Length / BitsPerGroup; group++)
        {
            ulong equal = 0;
            for (int i = 0; i < perGroup; i++)
                equal |= Vector512.Equals(a[(group * perGroup) + i], b[(group * perGroup) + i])
                    .ExtractMostSignificantBits() << (i * Vector512<ulong>.Count);
            different[group] = ~equal;
        }
    }

    /// <summary>Sets the bits of single words between two that differ: one range is shorter than two.</summary>
    public static void FillSingleGaps(Span<ulong> different)
    {
        ulong before = 0;
        for (int group = 0; group < different.Length; group++)
        {
            ulong own = different[group];
            ulong after = group + 1 < different.Length ? different[group + 1] : 0;
            ulong hasLower = (own << 1) | (before >> (BitsPerGroup - 1)), hasHigher = (own >> 1) | (after << (BitsPerGroup - 1));
            different[group] = own | (hasLower & hasHigher);
            before = own;
        }
    }

    [Conditional("DEBUG")]
    private static void AssertSizes(ReadOnlySpan<ulong> left, ReadOnlySpan<ulong> right, Span<ulong> different)
    {
        Debug.Assert(left.Length == right.Length && left.Length % BitsPerGroup == 0, "both have the same whole groups of words");
        Debug.Assert(different.Length * BitsPerGroup >= left.Length, "there is a bit for each word");
    }

    /// <summary>Returns the number of bits set.</summary>
    public static int Count(ReadOnlySpan<ulong> bits)
    {
        int count = 0;
        foreach (ulong group in bits)
            count += BitOperations.PopCount(group);
        return count;
    }

    /// <summary>
    /// Returns the first bit at or after <paramref name="from"/> that is set (or not set, as requested), or the number of
    /// bits if there is none.
    /// </summary>
    public static int Next(ReadOnlySpan<ulong> bits, int from, bool isSet)
    {
        Debug.Assert(from >= 0, "no word lies before the first");
        for (int group = from / BitsPerGroup; group < bits.Length; group++)
        {
            ulong wanted = isSet ? bits[group] : ~bits[group];
            if (group == from / BitsPerGroup)
                wanted &= ulong.MaxValue << (from % BitsPerGroup);
            if (wanted != 0)
                return (group * BitsPerGroup) + BitOperations.TrailingZeroCount(wanted);
        }

        return bits.Length * BitsPerGroup;
    }
}
