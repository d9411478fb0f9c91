using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Journal;

/// <summary>
/// The buffer in which a frame is assembled; reused for the next one. It has space for a file header before the frame, so
/// that the first frame of a use is a single write, and it is aligned as writes that bypass the system's cache require.
/// </summary>
internal sealed class FrameBuffer : IDisposable
{
    private const int FirstBytes = 1 << 16;
    private const int KeptBytes = 8 << 20;
    private const int Start = JournalFileHeader.BlockBytes;

    private readonly AlignedBuffer _bytes = new(FirstBytes);

    /// <summary>Bytes of the frame so far, including its header.</summary>
    public int Length { get; private set; }

    /// <summary>The block before the frame, for a file header or another single block.</summary>
    public Span<byte> Block => _bytes.Slice(0, Start);

    /// <summary>Header and payload of the frame.</summary>
    public Span<byte> Content => _bytes.Slice(Start, Length);

    public void Clear()
    {
        Length = FrameHeader.SizeBytes;
        Trim();
    }

    /// <summary>Releases memory that a large frame needed. The frame must be written, or given up.</summary>
    public void Trim()
    {
        if (_bytes.Length > KeptBytes)
            _bytes.Resize(FirstBytes, Start);
    }

    /// <summary>Returns space after the current contents; call <see cref="Advance"/> with the number of bytes used.</summary>
    public Span<byte> Room(long lengthBytes)
    {
        Debug.Assert(lengthBytes >= 0 && Length >= FrameHeader.SizeBytes, "what is added comes behind the header");
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
    /// Returns the frame as written to the file, zero-padded to a multiple of 4 KiB; optionally with the block before it.
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
