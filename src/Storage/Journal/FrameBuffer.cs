using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Journal;

/// <summary>
/// One frame while it is put together; used again for the next one. Room for the header of a file lies before it, so that the
/// first frame of a use is one write, and all of it lies as a write past the system's cache needs it.
/// </summary>
internal sealed class FrameBuffer : IDisposable
{
    private const int FirstBytes = 1 << 16;
    private const int KeptBytes = 8 << 20;
    private const int Start = JournalFileHeader.BlockBytes;

    private readonly AlignedBuffer _bytes = new(FirstBytes);

    /// <summary>Bytes in use, header included.</summary>
    public int Length { get; private set; }

    /// <summary>The block before the frame.</summary>
    public Span<byte> Block => _bytes.Slice(0, Start);

    /// <summary>Header and payload.</summary>
    public Span<byte> Content => _bytes.Slice(Start, Length);

    public void Clear()
    {
        Length = FrameHeader.SizeBytes;
        if (_bytes.Length > KeptBytes)
            _bytes.Resize(FirstBytes, Start);
    }

    /// <summary>Room after what was added; <see cref="Advance"/> says how much of it was used.</summary>
    public Span<byte> Room(long lengthBytes)
    {
        long needed = Start + Length + lengthBytes + FrameHeader.AlignmentBytes;
        if (needed > Array.MaxLength)
            throw new StorageException(
                $"A transaction's journal frame would have {needed} bytes, the most is {Array.MaxLength}; write in smaller "
                    + $"transactions.");
        if (needed > _bytes.Length)
            _bytes.Resize((int)Math.Min(Array.MaxLength, Math.Max(needed, 2L * _bytes.Length)), Start + Length);
        return _bytes.Slice(Start + Length, (int)lengthBytes);
    }

    public void Advance(int lengthBytes)
    {
        Debug.Assert(
            lengthBytes >= 0 && Start + Length + lengthBytes + FrameHeader.AlignmentBytes <= _bytes.Length,
            "there was room for what was added");
        Length += lengthBytes;
    }

    public void WriteInt32At(int offset, int value) =>
        BinaryPrimitives.WriteInt32LittleEndian(_bytes.Slice(Start + offset, sizeof(int)), value);

    /// <summary>
    /// The frame as it goes to the file: filled with zeros to a multiple of 4 KiB; with the block before it where wanted.
    /// </summary>
    public ReadOnlySpan<byte> Padded(bool withBlock)
    {
        Debug.Assert(Length >= FrameHeader.SizeBytes, "a frame has a header");
        int padded = (int)FrameHeader.FrameBytes(Length - FrameHeader.SizeBytes);
        _bytes.Slice(Start + Length, padded - Length).Clear();
        return withBlock ? _bytes.Slice(0, Start + padded) : _bytes.Slice(Start, padded);
    }

    public void Dispose() => _bytes.Dispose();
}
