using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// The first 4 KiB of a journal file. Rewritten with a new salt each time the file is used.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 "TPJRNFIL"
///      8    4 format version
///     12    4 0
///     16   16 store id
///     32    8 number of this use: increases by one from file to file
///     40    8 salt, random: frames left from earlier uses of the file have a different one
///     48    8 number of the first frame
///     56    8 hash of the frame before it, in the file of the previous use
///     64    8 XXH64 of this block, with this field as 0
///     72    8 incarnation of the key that encrypts its frames; 0 if not encrypted
///     80    8 length of the file, durable before this header is written; 0 if written by an older version
///     88   40 0
///    128  160 wrapped keys, if encrypted (see KeyBlock): salvage uses them if both meta pages are lost
///    288      0; readers ignore other values and treat them as 0
/// </code>
/// </summary>
internal readonly record struct JournalFileHeader(
    Guid StoreId, long Use, ulong Salt, long FirstFrame, ulong PreviousHash, ulong Incarnation,
    KeyBlock? Keys, long FileBytes = 0)
{
    public const int BlockBytes = 4096;
    public const long Magic = 0x4C49464E524A5054; // "TPJRNFIL"

    private const int HashOffset = 64;
    private const int FileBytesOffset = 80;
    private const int KeysOffset = 128;
    private const int RecordBytes = 288;

    public void Write(Span<byte> block)
    {
        block[..BlockBytes].Clear();
        BinaryPrimitives.WriteInt64LittleEndian(block, Magic);
        BinaryPrimitives.WriteInt32LittleEndian(block[8..], MetaPage.FormatVersion);
        StoreId.TryWriteBytes(block[16..]);
        BinaryPrimitives.WriteInt64LittleEndian(block[32..], Use);
        BinaryPrimitives.WriteUInt64LittleEndian(block[40..], Salt);
        BinaryPrimitives.WriteInt64LittleEndian(block[48..], FirstFrame);
        BinaryPrimitives.WriteUInt64LittleEndian(block[56..], PreviousHash);
        BinaryPrimitives.WriteUInt64LittleEndian(block[72..], Incarnation);
        BinaryPrimitives.WriteInt64LittleEndian(block[FileBytesOffset..], FileBytes);
        Keys?.Write(block[KeysOffset..]);
        BinaryPrimitives.WriteUInt64LittleEndian(block[HashOffset..], FrameHash.Compute(block[..BlockBytes]));
    }

    /// <summary>
    /// Reads a header. Returns false if there is none. Clears the hash field of the block, and garbage after the record.
    /// Throws <see cref="ForeignDataException"/> for a newer format, since such a file must not be reused.
    /// </summary>
    public static bool TryRead(Span<byte> block, string file, out JournalFileHeader header)
    {
        header = default;
        if (block.Length < BlockBytes || BinaryPrimitives.ReadInt64LittleEndian(block) != Magic)
            return false;

        ulong hash = BinaryPrimitives.ReadUInt64LittleEndian(block[HashOffset..]);
        BinaryPrimitives.WriteUInt64LittleEndian(block[HashOffset..], 0);
        if (!FrameHash.IsRight(block[..BlockBytes], RecordBytes, hash))
            return false;

        int version = BinaryPrimitives.ReadInt32LittleEndian(block[8..]);
        if (version > MetaPage.FormatVersion)
            throw new ForeignDataException(
                $"'{file}' has format {version}, this program knows formats up to {MetaPage.FormatVersion}: open it with a newer "
                    + $"one. Nothing was written.");

        header = new JournalFileHeader(
            new Guid(block.Slice(16, 16)),
            BinaryPrimitives.ReadInt64LittleEndian(block[32..]),
            BinaryPrimitives.ReadUInt64LittleEndian(block[40..]),
            BinaryPrimitives.ReadInt64LittleEndian(block[48..]),
            BinaryPrimitives.ReadUInt64LittleEndian(block[56..]),
            BinaryPrimitives.ReadUInt64LittleEndian(block[72..]),
            BinaryPrimitives.ReadUInt64LittleEndian(block[72..]) == 0 ? null : KeyBlock.TryRead(block[KeysOffset..]),
            BinaryPrimitives.ReadInt64LittleEndian(block[FileBytesOffset..]));
        return true;
    }
}
