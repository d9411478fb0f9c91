using System.Numerics;
using Treepie.Storage;

namespace Treepie.Indexing.Terms;

/// <summary>
/// The numbers of an entry's words, which ascend and of which small ones are frequent, in about as many bits as how frequent they
/// are says: with words of English texts seven each. A number is what lies between it and the one before, by a code whose steps
/// grow with the number before: of that, <c>d</c>, the lowest <c>k</c> bits, where <c>k</c> is three less than the bits of the
/// number before plus one; and of <c>(d >> k) + 1</c> its bits. Lowest bits first:
/// <code>
/// zeros, as many as (d >> k) + 1 has bits less one; a one
/// d, its lowest k bits
/// (d >> k) + 1 without its highest bit
/// </code>
/// </summary>
internal static class WordNumbers
{
    /// <summary>Numbers are below this.</summary>
    public const long Limit = 1L << 48;

    /// <summary>Most bytes of so many numbers.</summary>
    public static int MaxBytes(int count) => (count * 13) + 1;

    /// <summary>Writes ascending numbers, none twice; returns the bytes.</summary>
    public static int Write(ReadOnlySpan<long> numbers, Span<byte> output)
    {
        var writer = new BitWriter(output);
        long last = -1;
        foreach (long number in numbers)
        {
            int low = LowBits(last);
            long distance = number - last - 1;
            long high = (distance >> low) + 1;
            int bits = BitOperations.Log2((ulong)high);
            writer.Write(1L << bits, bits + 1);
            writer.Write(distance & ((1L << low) - 1), low);
            writer.Write(high & ((1L << bits) - 1), bits);
            last = number;
        }

        return writer.End();
    }

    /// <summary>Reads the number behind another; behind none, which is -1.</summary>
    /// <exception cref="CorruptionException">There is none that could be.</exception>
    public static long ReadNext(ref BitReader reader, long last)
    {
        int low = LowBits(last);
        int bits = reader.ReadZeros();
        long distance = reader.Read(low);
        long high = (reader.Read(bits) | (1L << bits)) - 1;
        long number = last + 1 + distance + (high << low);
        return bits + low < BitReader.MaxBits && number < Limit
            ? number
            : throw new CorruptionException("A number of a word in the index is damaged. Reset the index to build it again.");
    }

    private static int LowBits(long last) => Math.Max(0, 61 - BitOperations.LeadingZeroCount((ulong)(last + 1)));
}
