namespace Treepie.Storage.Backups;

/// <summary>
/// A backup part: one stream, written in one pass and read sequentially. Little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 89 54 50 50 41 52 54 0A
///      8    2 version: 3; 2 uses SHA-256; 1 uses SHA-256 and has no manifest
///     10    2 kind: 1 snapshot, 2 increment, 3 log
///     12    4 length of the description in bytes
///     16   16 store id
///     32   32 increment: hash of the part it continues; otherwise 0
///     64    8 time taken, milliseconds since 1970-01-01 UTC
///     72    8 last commit in the part
///     80    8 time of that commit, milliseconds; 0 if unknown
///     88    8 commit that the part continues; -1 for a snapshot
///     96      description set by the writer, UTF-8
///      .    4 CRC-32C of everything before: the mark of the part
///      .      frames
///
/// frame:
///      0    4 kind
///      4    4 length of the content in bytes, at most 1 MiB
///      8    8 number of the frame, from 0
///     16    4 CRC-32C of the preceding 16 bytes and the content
///     20    4 mark of the part
///     24      content
/// </code>
/// The last frame has the number of frames before it (8), the number of bytes before it (8) and their BLAKE3 hash: the hash
/// of the part. Nothing follows it.
/// </summary>
internal static class PartFormat
{
    public const int Version = 3;

    /// <summary>The first version that uses BLAKE3.</summary>
    public const int Blake3Version = 3;

    public const int HeadBytes = 96;
    public const int MarkBytes = 4;
    public const int FrameHeadBytes = 24;
    public const int HashBytes = 32;
    public const int EndBytes = sizeof(long) + sizeof(long) + HashBytes;

    /// <summary>128 pages: the cost of a frame header is negligible, and a reader or writer needs this much memory.</summary>
    public const int MaxContentBytes = 1 << 20;

    /// <summary>The longest description allowed: enough for a database with some thousand indexes.</summary>
    public const int MaxDescriptionBytes = 16 << 20;

    /// <summary>
    /// The header of a stretch of pages in a frame: 8 bytes first page, 4 bytes number of pages, 4 bytes zero.
    /// </summary>
    public const int StretchBytes = 16;

    public static ReadOnlySpan<byte> Magic => [0x89, 0x54, 0x50, 0x50, 0x41, 0x52, 0x54, 0x0A];
}
