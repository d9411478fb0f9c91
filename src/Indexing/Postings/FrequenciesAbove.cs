using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Kernels;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Finds the entries of a BITS or FULL window with a frequency above 1, from the encoded frequencies of 64 entries at a time.
/// </summary>
internal static class FrequenciesAbove
{
    /// <summary>
    /// For each block with a bit set in <paramref name="wanted"/>, sets a bit for each entry whose frequency is, or may be, above
    /// 1. Other blocks are not written.
    /// </summary>
    public static void Copy(in PostingWindow postings, ReadOnlySpan<ulong> wanted, Span<ulong> above)
    {
        Debug.Assert(postings.Form is WindowSetForm.Bits or WindowSetForm.Full, "only a bitmap or a full window has blocks");
        Debug.Assert(wanted.Length >= PostingWindow.Blocks && above.Length >= PostingWindow.Blocks, "a word for each block");
        ReadOnlySpan<byte> frequencies = postings.Frequencies;
        int width = frequencies.IsEmpty ? 0 : frequencies[0];
        ReadOnlySpan<byte> values = frequencies.IsEmpty ? default : frequencies[1..];
        ReadOnlySpan<ulong> words = postings.Words;
        int rank = 0;
        for (int block = 0; block < PostingWindow.Blocks; block++)
        {
            ulong word = words.IsEmpty ? ulong.MaxValue : words[block];
            int count = BitOperations.PopCount(word);
            if (wanted[block] != 0)
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

    /// <summary>
    /// Returns a bit for each of up to 64 nibbles from nibble <paramref name="from"/> on, set if the nibble is above 1.
    /// </summary>
    private static ulong HalvesAbove(ReadOnlySpan<byte> values, int from, int count)
    {
        ulong result = 0;
        for (int i = 0; i < count; i += 16)
            result |= BitmapKernels.HalvesAboveOne(ReadBits(values, 4 * (from + i))) << i;
        return result;
    }

    /// <summary>Reads 64 bits from bit <paramref name="from"/> on; bits past the end are 0.</summary>
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
