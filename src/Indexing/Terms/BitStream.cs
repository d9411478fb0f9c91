using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Storage;

namespace Treepie.Indexing.Terms;

/// <summary>Reads numbers of any bit width, lowest bit first. See <see cref="WordNumbers"/>.</summary>
/// <param name="bytes">The bits, and any bytes that follow them.</param>
internal ref struct BitReader(ReadOnlySpan<byte> bytes)
{
    /// <summary>
    /// Widest number: it lies within eight bytes even if up to seven bits of its first byte were read before.
    /// </summary>
    public const int MaxBits = 56;

    private readonly ReadOnlySpan<byte> _bytes = bytes;
    private int _place;

    /// <summary>Number of bytes read so far; the last one may be read only in part.</summary>
    public readonly int Bytes => (_place + 7) >> 3;

    /// <summary>Counts the 0 bits before the next 1 bit and moves past that 1.</summary>
    /// <exception cref="CorruptionException">No 1 bit follows.</exception>
    public int ReadZeros()
    {
        ulong window = Window();
        int zeros = BitOperations.TrailingZeroCount(window);
        if (zeros >= MaxBits)
            throw Damaged();
        _place += zeros + 1;
        return zeros;
    }

    /// <summary>Reads a number of <paramref name="bits"/> bits, at most <see cref="MaxBits"/>.</summary>
    public long Read(int bits)
    {
        Debug.Assert(bits is >= 0 and <= MaxBits, "a number fits the window");
        ulong window = Window();
        _place += bits;
        if (Bytes > _bytes.Length)
            throw Damaged();
        return (long)(window & ((1UL << bits) - 1));
    }

    /// <summary>Returns the next bits; bits past the end are 0.</summary>
    private readonly ulong Window()
    {
        int first = _place >> 3;
        if (first + sizeof(ulong) <= _bytes.Length)
            return BinaryPrimitives.ReadUInt64LittleEndian(_bytes[first..]) >> (_place & 7);

        ulong window = 0;
        for (int i = _bytes.Length - 1; i >= first; i--)
            window = (window << 8) | _bytes[i];
        return window >> (_place & 7);
    }

    private static CorruptionException Damaged() =>
        new("Numbers in a record of the index do not end. Reset the index to build it again.");
}

/// <summary>Writes the format that <see cref="BitReader"/> reads.</summary>
/// <param name="output">The buffer to write to. Its previous content does not matter.</param>
internal ref struct BitWriter(Span<byte> output)
{
    private readonly Span<byte> _output = output;
    private ulong _waiting;
    private int _waitingBits;
    private int _length;

    /// <summary>Writes a number of <paramref name="bits"/> bits, at most <see cref="BitReader.MaxBits"/>.</summary>
    public void Write(long value, int bits)
    {
        Debug.Assert(bits is >= 0 and <= BitReader.MaxBits && (ulong)value >> bits == 0, "a number fits its bits");
        Debug.Assert(_waitingBits < 8, "whole bytes are written at once");
        _waiting |= (ulong)value << _waitingBits;
        _waitingBits += bits;
        while (_waitingBits >= 8)
        {
            _output[_length++] = (byte)_waiting;
            _waiting >>= 8;
            _waitingBits -= 8;
        }
    }

    /// <summary>Fills the last byte with zero bits; returns the number of bytes written.</summary>
    public int End()
    {
        Debug.Assert(_waitingBits < 8, "whole bytes are written at once");
        if (_waitingBits > 0)
            _output[_length++] = (byte)_waiting;
        (_waiting, _waitingBits) = (0, 0);
        return _length;
    }
}
