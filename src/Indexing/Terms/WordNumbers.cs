using System.Diagnostics;
using System.Numerics;
using Treepie.Storage;

namespace Treepie.Indexing.Terms;

/// <summary>
/// The ascending numbers of an entry's words, in about as many bits as their frequency implies: small numbers are frequent, and
/// words of English texts take about seven bits. A number is stored as <c>d = number − previous − 1</c>, where the number before
/// the first is -1, in a Golomb-like code whose parameter grows with the previous number: <c>k</c> is the bit length of
/// <c>previous + 1</c>, less three (at least 0). The code is the lowest <c>k</c> bits of <c>d</c> and an Elias gamma code of
/// <c>(d >> k) + 1</c>. Lowest bits first:
/// <code>
/// one zero fewer than (d >> k) + 1 has bits; a one
/// the lowest k bits of d
/// (d >> k) + 1 without its highest bit
/// </code>
/// </summary>
internal static class WordNumbers
{
    /// <summary>All numbers are below this.</summary>
    public const long Limit = 1L << 48;

    /// <summary>Most bytes that <paramref name="count"/> numbers take.</summary>
    public static int MaxBytes(int count) => (count * 13) + 1;

    /// <summary>Writes strictly ascending numbers; returns the bytes written.</summary>
    public static int Write(ReadOnlySpan<long> numbers, Span<byte> output)
    {
        var writer = new BitWriter(output);
        long last = -1;
        foreach (long number in numbers)
        {
            Debug.Assert(number > last && number < Limit, "words ascend, below the limit");
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

    /// <summary>Reads the number after <paramref name="last"/>, which is -1 for the first.</summary>
    /// <exception cref="CorruptionException">The bits are not a valid number.</exception>
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
