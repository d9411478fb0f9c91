using System.Buffers.Binary;

namespace Treepie.Storage.Backups;

/// <summary>
/// A commit in a log, or a piece of one.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 first transaction
///      8    8 last transaction
///     16    8 commit time, milliseconds since 1970-01-01 UTC; 0 if unknown
///     24    4 total length of the payload in bytes
///     28    4 offset of this piece in the payload
///     32      the piece: payload of a journal frame, not encrypted
/// </code>
/// </summary>
internal readonly record struct LogRecord(long First, long Last, long TimeMs, int PayloadBytes, int Offset)
{
    public const int HeadBytes = 32;

    public void Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, First);
        BinaryPrimitives.WriteInt64LittleEndian(destination[8..], Last);
        BinaryPrimitives.WriteInt64LittleEndian(destination[16..], TimeMs);
        BinaryPrimitives.WriteInt32LittleEndian(destination[24..], PayloadBytes);
        BinaryPrimitives.WriteInt32LittleEndian(destination[28..], Offset);
    }

    /// <summary>Decodes a record. Returns null if it is invalid.</summary>
    public static LogRecord? TryRead(ReadOnlySpan<byte> source)
    {
        if (source.Length < HeadBytes)
            return null;

        var record = new LogRecord(
            BinaryPrimitives.ReadInt64LittleEndian(source),
            BinaryPrimitives.ReadInt64LittleEndian(source[8..]),
            BinaryPrimitives.ReadInt64LittleEndian(source[16..]),
            BinaryPrimitives.ReadInt32LittleEndian(source[24..]),
            BinaryPrimitives.ReadInt32LittleEndian(source[28..]));
        return record.First < 1
            || record.Last < record.First
            || record.TimeMs is < 0 or > 253_402_300_799_999
            || record.PayloadBytes < 0
            || record.Offset < 0
            || record.PayloadBytes - (long)record.Offset < source.Length - HeadBytes ? null : record;
    }
}
