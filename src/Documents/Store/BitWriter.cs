namespace Treepie.Store;

/// <summary>Writes bits, most significant first, to a growing buffer.</summary>
internal sealed class BitWriter
{
    private byte[] _bytes = new byte[4096];
    private int _bits;

    /// <summary>The number of bytes used so far.</summary>
    public int LengthBytes => (_bits + 7) / 8;

    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, LengthBytes);

    public void Write(ulong value, int count)
    {
        if (_bits + count > _bytes.Length * 8)
            Array.Resize(ref _bytes, _bytes.Length * 2);
        for (int left = count; left > 0;)
        {
            int free = 8 - (_bits & 7), taken = Math.Min(free, left);
            ulong part = (value >> (left - taken)) & ((1UL << taken) - 1);
            _bytes[_bits >> 3] |= (byte)(part << (free - taken));
            _bits += taken;
            left -= taken;
        }
    }
}
