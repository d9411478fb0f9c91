namespace Treepie.Storage.Backups;

/// <summary>
/// A part of a backup: one stream, read front to back, written in one pass. Little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 89 54 50 50 41 52 54 0A
///      8    2 version, 3; 2 was hashed with SHA-256, 1 too, and had no manifest
///     10    2 kind: 1 snapshot, 2 increment, 3 log
///     12    4 bytes of the description
///     16   16 store id
///     32   32 snapshot, log: 0; increment: hash of the part that it goes on from
///     64    8 when it was taken, milliseconds since 1970-01-01 UTC
///     72    8 last commit in it
///     80    8 when that was made, milliseconds; 0 where nobody knows
///     88    8 commit that it goes on from; -1 for a snapshot
///     96      description: UTF-8 of whoever wrote the part
///      .    4 CRC-32C of all before: the part's mark
///      .      frames
///
/// frame:
///      0    4 kind
///      4    4 bytes of content, at most 1 MiB
///      8    8 number of the frame, from 0
///     16    4 CRC-32C of the 16 bytes before and the content
///     20    4 mark of the part
///     24      content
/// </code>
/// The last frame has the number of frames before it (8), the bytes before it (8) and the BLAKE3 of them: the hash of the part.
/// Nothing follows.
/// </summary>
internal static class PartFormat
{
    public const int Version = 3;

    /// <summary>The first version that is hashed with BLAKE3.</summary>
    public const int Blake3Version = 3;

    public const int HeadBytes = 96;
    public const int MarkBytes = 4;
    public const int FrameHeadBytes = 24;
    public const int HashBytes = 32;
    public const int EndBytes = sizeof(long) + sizeof(long) + HashBytes;

    /// <summary>128 pages: long enough that a frame's head costs nothing, and the memory of who writes or reads one.</summary>
    public const int MaxContentBytes = 1 << 20;

    /// <summary>Longest description: a database with some thousand indexes.</summary>
    public const int MaxDescriptionBytes = 16 << 20;

    /// <summary>Of a stretch of pages in a frame: 8 first page, 4 pages, 4 zero.</summary>
    public const int StretchBytes = 16;

    public static ReadOnlySpan<byte> Magic => [0x89, 0x54, 0x50, 0x50, 0x41, 0x52, 0x54, 0x0A];
}
