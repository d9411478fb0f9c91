using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// The last 4 KiB of a journal file, written when the journal continues in another file. It is durable before anything in
/// that file is acknowledged, so that the loss of the newest file is detected.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 "TPJNEXTF"
///      8    8 salt of this use of the file; a block left from an earlier use has a different one
///     16    8 number of the next use
///     24    8 number of its first frame
///     32    8 hash of the frame before that
///     40    8 XXH64 of this block, with this field as 0
///     48      0; readers ignore other values and treat them as 0
/// </code>
/// </summary>
internal readonly record struct JournalNextUse(ulong Salt, long Use, long FirstFrame, ulong PreviousHash)
{
    public const int BlockBytes = JournalFileHeader.BlockBytes;
    public const long Magic = 0x465458454E4A5054; // "TPJNEXTF"

    private const int HashOffset = 40;
    private const int RecordBytes = 48;

    /// <summary>Returns the offset of the block in a file.</summary>
    public static long OffsetIn(long fileBytes) => fileBytes - BlockBytes;

    public void Write(Span<byte> block)
    {
        block[..BlockBytes].Clear();
        BinaryPrimitives.WriteInt64LittleEndian(block, Magic);
        BinaryPrimitives.WriteUInt64LittleEndian(block[8..], Salt);
        BinaryPrimitives.WriteInt64LittleEndian(block[16..], Use);
        BinaryPrimitives.WriteInt64LittleEndian(block[24..], FirstFrame);
        BinaryPrimitives.WriteUInt64LittleEndian(block[32..], PreviousHash);
        BinaryPrimitives.WriteUInt64LittleEndian(block[HashOffset..], FrameHash.Compute(block[..BlockBytes]));
    }

    /// <summary>Reads a block. Returns false if there is none. Clears the hash field, and garbage after the record.</summary>
    public static bool TryRead(Span<byte> block, out JournalNextUse next)
    {
        next = default;
        if (block.Length < BlockBytes || BinaryPrimitives.ReadInt64LittleEndian(block) != Magic)
            return false;

        ulong hash = BinaryPrimitives.ReadUInt64LittleEndian(block[HashOffset..]);
        BinaryPrimitives.WriteUInt64LittleEndian(block[HashOffset..], 0);
        if (!FrameHash.IsRight(block[..BlockBytes], RecordBytes, hash))
            return false;

        next = new JournalNextUse(
            BinaryPrimitives.ReadUInt64LittleEndian(block[8..]),
            BinaryPrimitives.ReadInt64LittleEndian(block[16..]),
            BinaryPrimitives.ReadInt64LittleEndian(block[24..]),
            BinaryPrimitives.ReadUInt64LittleEndian(block[32..]));
        return true;
    }
}
