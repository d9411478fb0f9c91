using System.Buffers.Binary;
using Treepie.Storage.Format;

namespace Treepie.Storage.Journal;

/// <summary>One frame while it is put together; used again for the next one.</summary>
internal sealed class FrameBuffer
{
    private const int FirstBytes = 1 << 16;
    private const int KeptBytes = 8 << 20;

    private byte[] _bytes = new byte[FirstBytes];

    /// <summary>Bytes in use, header included.</summary>
    public int Length { get; private set; }

    public void Clear()
    {
        Length = FrameHeader.SizeBytes;
        if (_bytes.Length > KeptBytes)
            _bytes = new byte[FirstBytes];
    }

    /// <summary>Room after what was added; <see cref="Advance"/> says how much of it was used.</summary>
    public Span<byte> Room(long lengthBytes)
    {
        long needed = Length + lengthBytes + FrameHeader.AlignmentBytes;
        if (needed > Array.MaxLength)
            throw new StorageException($"A transaction's journal frame would have {needed} bytes, the most is {Array.MaxLength}; write in smaller transactions.");
        if (needed > _bytes.Length)
            Array.Resize(ref _bytes, (int)Math.Min(Array.MaxLength, Math.Max(needed, 2L * _bytes.Length)));
        return _bytes.AsSpan(Length, (int)lengthBytes);
    }

    public void Advance(int lengthBytes) => Length += lengthBytes;

    public void WriteInt32At(int offset, int value) => BinaryPrimitives.WriteInt32LittleEndian(_bytes.AsSpan(offset), value);

    /// <summary>Header and payload.</summary>
    public Span<byte> Content => _bytes.AsSpan(0, Length);

    /// <summary>The frame as it goes to the file: filled with zeros to a multiple of 4 KiB.</summary>
    public ReadOnlySpan<byte> Padded
    {
        get
        {
            int padded = (int)FrameHeader.FrameBytes(Length - FrameHeader.SizeBytes);
            _bytes.AsSpan(Length, padded - Length).Clear();
            return _bytes.AsSpan(0, padded);
        }
    }
}
