using System.Runtime.InteropServices;

namespace Treepie.Storage.Format;

/// <summary>
/// Says of a stretch in the heads and slots of a leaf or branch what is only shifted, because an entry before it was put in or
/// taken out: a few bytes instead of
/// half of all heads and slots, which would be more than the entry itself.
/// </summary>
internal static class PageShifts
{
    /// <summary>Shorter ones cost as much as their bytes, with the head of the range behind them.</summary>
    private const int MinMoveBytes = 16;

    private const int Step = 2;

    /// <summary>
    /// Distances that entries move by: a head or two, a slot or two, and of slots eight heads more or less, the step in which
    /// the room for heads grows.
    /// </summary>
    private static ReadOnlySpan<short> Distances => [4, 2, 34, 32, -4, -2, -34, -32, 8, -8];

    /// <summary>Writes the ranges of a stretch that differs.</summary>
    /// <param name="ranges">Where they go.</param>
    /// <param name="page">The page.</param>
    /// <param name="original">What it was copied from.</param>
    /// <param name="first">Where the stretch begins.</param>
    /// <param name="last">The byte behind it.</param>
    /// <param name="indexEnd">The byte behind the slots of the page.</param>
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
