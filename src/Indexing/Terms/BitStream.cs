using System.Buffers.Binary;
using System.Numerics;
using Treepie.Storage;

namespace Treepie.Indexing.Terms;

/// <summary>Reads numbers of some bits each, lowest first. See <see cref="WordNumbers"/>.</summary>
/// <param name="bytes">The bits, and what is behind them.</param>
internal ref struct BitReader(ReadOnlySpan<byte> bytes)
{
    /// <summary>Most bits of a number: with seven in front of it in its first byte, it is in eight bytes.</summary>
    public const int MaxBits = 56;

    private readonly ReadOnlySpan<byte> bytes = bytes;
    private int place;

    /// <summary>Bytes that were begun.</summary>
    public readonly int Bytes => (place + 7) >> 3;

    /// <summary>Bits that are 0 up to the next that is 1, which is passed too.</summary>
    /// <exception cref="CorruptionException">There is none.</exception>
    public int ReadZeros()
    {
        ulong window = Window();
        int zeros = BitOperations.TrailingZeroCount(window);
        if (zeros >= MaxBits)
            throw Damaged();
        place += zeros + 1;
        return zeros;
    }

    /// <summary>A number of so many bits, <see cref="MaxBits"/> at most.</summary>
    public long Read(int bits)
    {
        ulong window = Window();
        place += bits;
        if (Bytes > bytes.Length)
            throw Damaged();
        return (long)(window & ((1UL << bits) - 1));
    }

    /// <summary>The next bits; zeros behind the end.</summary>
    private readonly ulong Window()
    {
        int first = place >> 3;
        if (first + sizeof(ulong) <= bytes.Length)
            return BinaryPrimitives.ReadUInt64LittleEndian(bytes[first..]) >> (place & 7);

        ulong window = 0;
        for (int i = bytes.Length - 1; i >= first; i--)
            window = (window << 8) | bytes[i];
        return window >> (place & 7);
    }

    private static CorruptionException Damaged() =>
        new("Numbers in a record of the index do not end. Reset the index to build it again.");
}

/// <summary>Writes what <see cref="BitReader"/> reads.</summary>
/// <param name="output">Room, which may hold anything.</param>
internal ref struct BitWriter(Span<byte> output)
{
    private readonly Span<byte> output = output;
    private ulong waiting;
    private int waitingBits;
    private int length;

    /// <summary>Writes a number of so many bits, <see cref="BitReader.MaxBits"/> at most.</summary>
    public void Write(long value, int bits)
    {
        waiting |= (ulong)value << waitingBits;
        waitingBits += bits;
        while (waitingBits >= 8)
        {
            output[length++] = (byte)waiting;
            waiting >>= 8;
            waitingBits -= 8;
        }
    }

    /// <summary>Fills the last byte; returns how many there are.</summary>
    public int End()
    {
        if (waitingBits > 0)
            output[length++] = (byte)waiting;
        (waiting, waitingBits) = (0, 0);
        return length;
    }
}
