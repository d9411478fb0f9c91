using System.Runtime.InteropServices;

namespace Treepie.Storage.Format;

/// <summary>
/// Describes the parts of a changed stretch of key heads and slots that are only shifted because an earlier entry was
/// inserted or removed: a few bytes instead of half of all heads and slots, which would be more than the entry itself.
/// </summary>
internal static class PageShifts
{
    /// <summary>Shorter moves save nothing, since the following bytes need a range header of their own.</summary>
    private const int MinMoveBytes = 16;

    private const int Step = 2;

    /// <summary>
    /// The distances by which entries move: one or two heads, one or two slots, and for slots also eight heads more or less,
    /// the step by which the space for heads grows.
    /// </summary>
    private static ReadOnlySpan<short> Distances => [4, 2, 34, 32, -4, -2, -34, -32, 8, -8];

    /// <summary>Writes the ranges of a stretch that differs.</summary>
    /// <param name="ranges">The destination.</param>
    /// <param name="page">The page.</param>
    /// <param name="original">The original page.</param>
    /// <param name="first">The start of the stretch.</param>
    /// <param name="last">The end of the stretch (exclusive).</param>
    /// <param name="indexEnd">The end of the slots of the page.</param>
    public static void Write(
        ref PageMoves.RangeList ranges, scoped ReadOnlySpan<byte> page, scoped ReadOnlySpan<byte> original, int first, int last,
        int indexEnd)
    {
        int end = Math.Min(last, indexEnd), written = first;
        for (int at = first + (first % Step); at + MinMoveBytes <= end;)
        {
            int length = FindLongest(page[at..end], original, at, out int from);
            if (length < MinMoveBytes)
            {
                at += Step;
                continue;
            }

            ranges.AddBytes(written, page[written..at]);
            ranges.AddMove(at, from, length);
            written = at += length;
        }

        ranges.AddBytes(written, page[written..last]);
    }

    private static int FindLongest(ReadOnlySpan<byte> rest, ReadOnlySpan<byte> original, int at, out int from)
    {
        int longest = from = 0;
        ulong begin = MemoryMarshal.Read<ulong>(rest);
        foreach (short distance in Distances)
        {
            int start = at - distance;
            if (start < PageLayout.HeaderBytes
                || start + MinMoveBytes > PageLayout.SizeBytes
                || MemoryMarshal.Read<ulong>(original[start..]) != begin)
                continue;

            int length = rest.CommonPrefixLength(original[start..]);
            if (length > longest)
                (longest, from) = (length, start);
        }

        return longest;
    }
}
