using System.Buffers.Binary;

namespace Treepie.Store;

/// <summary>Reads bits written by a <see cref="BitWriter"/>.</summary>
internal ref struct BitReader(ReadOnlySpan<byte> bytes)
{
    private readonly ReadOnlySpan<byte> _bytes = bytes;
    private int _bits;

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

    public bool ReadFlag() => Read(1) != 0;
}
