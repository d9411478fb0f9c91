using System.Buffers.Binary;

namespace Treepie.Store;

/// <summary>Writes bits, most significant first, to a growing buffer.</summary>
internal sealed class BitWriter
{
    private byte[] _bytes = new byte[4096];
    private int _bits;

    /// <summary>The number of bytes used so far.</summary>
    public int LengthBytes => (_bits + 7) / 8;

    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, LengthBytes);

    /// <summary>Writes the lowest bits of a value, 1 to 64 of them.</summary>
    public void Write(ulong value, int count)
    {
        int at = _bits >> 3, used = _bits & 7;
        if (at + sizeof(ulong) + 1 > _bytes.Length)
            Array.Resize(ref _bytes, _bytes.Length * 2);
        ulong bits = value << (64 - count); // the lowest ones, moved to the top
        Span<byte> word = _bytes.AsSpan(at, sizeof(ulong) + 1);
        BinaryPrimitives.WriteUInt64BigEndian(word, ((ulong)word[0] << 56) | (bits >> used));
        if (used + count > 64)
            word[sizeof(ulong)] = (byte)(bits << (64 - used) >> 56);
        _bits += count;
    }
}
