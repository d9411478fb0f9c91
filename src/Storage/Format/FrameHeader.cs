using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Storage.Format;

/// <summary>
/// The head of a journal frame: one merged batch of transactions. A frame begins at a multiple of 4 KiB and is filled
/// with zeros up to the next.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 "TPJFRAME"
///      8    8 salt of this use of the file
///     16    8 number of the frame: rises by one, never restarts
///     24    8 first transaction
///     32    8 last transaction
///     40    8 durableUpTo: highest transaction known to be durable when this was written
///     48    4 bytes of the payload as stored
///     52    4 bytes of the payload unpacked
///     56    4 codec: 0 stored as it is; 1 encrypted with AES-256-GCM
///     60    4 0
///     64    8 hash of the frame before (0 for the first of a store)
///     72    8 XXH64 of header and payload, this field taken as 0
///     80   16 AEAD tag; 0 where not encrypted
///     96    8 when it was made, in milliseconds since 1970-01-01 UTC, never before the frame before; 0 in files of older programs
///    104   24 0
///    128      payload (see JournalPayload)
/// </code>
/// </summary>
internal readonly record struct FrameHeader(
    ulong Salt, long Frame, long FirstTransaction, long LastTransaction, long DurableUpTo, int PayloadBytes, ulong PreviousHash,
    bool IsEncrypted = false, long TimeMs = 0)
{
    public const int SizeBytes = 128;
    public const int AlignmentBytes = 4096;
    public const long Magic = 0x454D4152464A5054; // "TPJFRAME"
    public const int NumberOffset = 16;
    public const int HashOffset = 72;
    public const int TagOffset = 80;

    /// <summary>Bytes a frame takes in its file.</summary>
    public static long FrameBytes(int payloadBytes) =>
        ((long)SizeBytes + payloadBytes + AlignmentBytes - 1) / AlignmentBytes * AlignmentBytes;

    /// <summary>
    /// Writes the header before its payload, but for tag and hash. <paramref name="frame"/> is header and payload exactly.
    /// </summary>
    public void Write(Span<byte> frame)
    {
        Debug.Assert(FirstTransaction <= LastTransaction, "a frame has transactions");
        frame[..SizeBytes].Clear();
        BinaryPrimitives.WriteInt64LittleEndian(frame, Magic);
        BinaryPrimitives.WriteUInt64LittleEndian(frame[8..], Salt);
        BinaryPrimitives.WriteInt64LittleEndian(frame[16..], Frame);
        BinaryPrimitives.WriteInt64LittleEndian(frame[24..], FirstTransaction);
        BinaryPrimitives.WriteInt64LittleEndian(frame[32..], LastTransaction);
        BinaryPrimitives.WriteInt64LittleEndian(frame[40..], DurableUpTo);
        BinaryPrimitives.WriteInt32LittleEndian(frame[48..], PayloadBytes);
        BinaryPrimitives.WriteInt32LittleEndian(frame[52..], PayloadBytes);
        BinaryPrimitives.WriteInt32LittleEndian(frame[56..], IsEncrypted ? 1 : 0);
        BinaryPrimitives.WriteUInt64LittleEndian(frame[64..], PreviousHash);
        BinaryPrimitives.WriteInt64LittleEndian(frame[96..], TimeMs);
    }

    /// <summary>Seals header and payload as they are to lie in the file, and returns the hash.</summary>
    public static ulong Seal(Span<byte> frame)
    {
        ulong hash = FrameHash.Compute(frame);
        BinaryPrimitives.WriteUInt64LittleEndian(frame[HashOffset..], hash);
        return hash;
    }

    /// <summary>Reads a header; false where the bytes cannot be one. Only <see cref="TryOpen"/> proves it.</summary>
    public static bool TryRead(ReadOnlySpan<byte> source, out FrameHeader header)
    {
        header = default;
        if (source.Length < SizeBytes || BinaryPrimitives.ReadInt64LittleEndian(source) != Magic)
            return false;

        header = new FrameHeader(
            BinaryPrimitives.ReadUInt64LittleEndian(source[8..]),
            BinaryPrimitives.ReadInt64LittleEndian(source[16..]),
            BinaryPrimitives.ReadInt64LittleEndian(source[24..]),
            BinaryPrimitives.ReadInt64LittleEndian(source[32..]),
            BinaryPrimitives.ReadInt64LittleEndian(source[40..]),
            BinaryPrimitives.ReadInt32LittleEndian(source[48..]),
            BinaryPrimitives.ReadUInt64LittleEndian(source[64..]),
            BinaryPrimitives.ReadInt32LittleEndian(source[56..]) == 1,
            BinaryPrimitives.ReadInt64LittleEndian(source[96..]));
        return header.PayloadBytes >= 0 && BinaryPrimitives.ReadInt32LittleEndian(source[56..]) is 0 or 1;
    }

    /// <summary>Whether header and payload are what was sealed; the hash field is left zero.</summary>
    public static bool TryOpen(Span<byte> frame, out ulong hash)
    {
        hash = BinaryPrimitives.ReadUInt64LittleEndian(frame[HashOffset..]);
        BinaryPrimitives.WriteUInt64LittleEndian(frame[HashOffset..], 0);
        return FrameHash.Compute(frame) == hash;
    }
}
