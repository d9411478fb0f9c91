using System.Buffers.Binary;
using System.Numerics;
using Treepie.Indexing.Kernels;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Which entries of a window of BITS or FULL have a term more than once, told from the encoded frequencies of 64 at a time.
/// </summary>
internal static class FrequenciesAbove
{
    /// <summary>
    /// For each block in which something is asked, a bit for each entry that has a frequency above 1, or may have one. Other
    /// blocks are left alone.
    /// </summary>
    public static void Copy(in PostingWindow postings, ReadOnlySpan<ulong> asked, Span<ulong> above)
    {
        ReadOnlySpan<byte> frequencies = postings.Frequencies;
        int width = frequencies.IsEmpty ? 0 : frequencies[0];
        ReadOnlySpan<byte> values = frequencies.IsEmpty ? default : frequencies[1..];
        ReadOnlySpan<ulong> words = postings.Words;
        int rank = 0;
        for (int block = 0; block < PostingWindow.Blocks; block++)
        {
            ulong word = words.IsEmpty ? ulong.MaxValue : words[block];
            int count = BitOperations.PopCount(word);
            if (asked[block] != 0)
            {
                above[block] = width switch
                {
                    0 => 0,
                    1 => BitmapKernels.Deposit(HalvesAbove(values, rank, count), word),
                    PostingWindow.PlaneWidth => BitmapKernels.Deposit(ReadBits(values, rank), word),
                    _ => word,
                };
            }

            rank += count;
        }
    }

    /// <summary>A bit for each of up to 64 halves of bytes that is above 1, from one on.</summary>
    private static ulong HalvesAbove(ReadOnlySpan<byte> values, int from, int count)
    {
        ulong result = 0;
        for (int i = 0; i < count; i += 16)
            result |= BitmapKernels.HalvesAboveOne(ReadBits(values, 4 * (from + i))) << i;
        return result;
    }

    /// <summary>64 bits from one on; 0 behind the end.</summary>
    private static ulong ReadBits(ReadOnlySpan<byte> values, int from)
    {
        ReadOnlySpan<byte> rest = values[Math.Min(values.Length, from >> 3)..];
        int shift = from & 7;
        if (rest.Length > sizeof(ulong))
            return (BinaryPrimitives.ReadUInt64LittleEndian(rest) >> shift) | ((ulong)rest[sizeof(ulong)] << 1 << (63 - shift));

        ulong bits = 0;
        for (int i = 0; i < rest.Length; i++)
            bits |= (ulong)rest[i] << (8 * i);
        return bits >> shift;
    }
}
