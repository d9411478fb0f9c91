using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Storage.Format;

/// <summary>
/// The header of a journal frame, which holds one merged batch of transactions. A frame starts at a multiple of 4 KiB and is
/// padded with zeros to the next one.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 "TPJFRAME"
///      8    8 salt of this use of the file
///     16    8 frame number: increases by one, never restarts
///     24    8 first transaction
///     32    8 last transaction
///     40    8 durableUpTo: highest transaction known to be durable when the frame was written
///     48    4 length of the stored payload in bytes
///     52    4 length of the payload when decoded, in bytes
///     56    4 codec: 0 none; 1 encrypted with AES-256-GCM
///     60    4 0
///     64    8 hash of the previous frame (0 for the first of a store)
///     72    8 XXH64 of header and payload, with this field as 0
///     80   16 AEAD tag; 0 if not encrypted
///     96    8 commit time, milliseconds since 1970-01-01 UTC, never before the previous frame's; 0 in older files
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

    /// <summary>Returns the number of bytes that a frame occupies in its file.</summary>
    public static long FrameBytes(int payloadBytes) =>
        ((long)SizeBytes + payloadBytes + AlignmentBytes - 1) / AlignmentBytes * AlignmentBytes;

    /// <summary>
    /// Writes the header before the payload, without tag and hash. <paramref name="frame"/> is exactly the header and the
    /// payload.
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

    /// <summary>Computes the hash of header and payload in their stored form, writes and returns it.</summary>
    public static ulong Seal(Span<byte> frame)
    {
        ulong hash = FrameHash.Compute(frame);
        BinaryPrimitives.WriteUInt64LittleEndian(frame[HashOffset..], hash);
        return hash;
    }

    /// <summary>
    /// Decodes a header. Returns false if the bytes are not one. Only <see cref="TryOpen"/> verifies the hash.
    /// </summary>
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

    /// <summary>Whether header and payload match the hash. Leaves the hash field zero.</summary>
    public static bool TryOpen(Span<byte> frame, out ulong hash)
    {
        hash = BinaryPrimitives.ReadUInt64LittleEndian(frame[HashOffset..]);
        BinaryPrimitives.WriteUInt64LittleEndian(frame[HashOffset..], 0);
        return FrameHash.Compute(frame) == hash;
    }
}
