using System.Buffers.Binary;

namespace Treepie.Store;

/// <summary>Reads bits written by a <see cref="BitWriter"/>.</summary>
internal ref struct BitReader(ReadOnlySpan<byte> bytes)
{
    private readonly ReadOnlySpan<byte> _bytes = bytes;
    private int _bits;

    /// <summary>Returns the next bits, left-aligned: at least 57, followed by zeros at the end.</summary>
    public readonly ulong Peek()
    {
        int at = _bits >> 3;
        if (at + sizeof(ulong) <= _bytes.Length)
            return BinaryPrimitives.ReadUInt64BigEndian(_bytes[at..]) << (_bits & 7);
        ulong last = 0;
        for (int i = at; i < _bytes.Length; i++)
            last |= (ulong)_bytes[i] << (56 - ((i - at) * 8));
        return last << (_bits & 7);
    }

    /// <summary>Skips one or more bits.</summary>
    /// <exception cref="IndexOutOfRangeException">There are fewer.</exception>
    public void Skip(int count)
    {
        _bits += count;
        _ = _bytes[(_bits - 1) >> 3]; // throws
    }

    public ulong Read(int count)
    {
        int at = _bits >> 3, skipped = _bits & 7;
        if (skipped + count <= 64 && at + sizeof(ulong) <= _bytes.Length && count > 0)
        {
            _bits += count;
            return BinaryPrimitives.ReadUInt64BigEndian(_bytes[at..]) << skipped >> (64 - count);
        }

        ulong value = 0;
        for (int left = count; left > 0;)
        {
            int there = 8 - (_bits & 7), taken = Math.Min(there, left);
            ulong part = (ulong)(_bytes[_bits >> 3] >> (there - taken)) & ((1UL << taken) - 1);
            value = (value << taken) | part;
            _bits += taken;
            left -= taken;
        }

        return value;
    }

    public bool ReadFlag()
    {
        int at = _bits++;
        return (_bytes[at >> 3] & (0x80 >> (at & 7))) != 0;
    }
}
