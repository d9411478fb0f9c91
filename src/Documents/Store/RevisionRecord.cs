using System.Buffers.Binary;
using System.Text;

namespace Treepie.Store;

/// <summary>
/// The value of a revision, whose key contains the etag of the document's state. Little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    1 flags: 1 a deletion; 2 the body is that of the previous revision; 4 attachments follow the metadata;
///             8 the body is compressed; 16 created on request, when no rule would have created it; 32 nothing of the document
///             was there before; 64 written when the document changed, after the previous revision; 128 the time of
///             forgotten deletions follows the header
///      1    1 number of revisions back, at most, at which the body is stored
///      2    2 length of the collection's name in bytes (C)
///      4    4 length of the metadata in bytes (M)
///      8    8 time of the change, UTC ticks
///     16    8 latest time of a deletion that was forgotten when the document was created, UTC ticks, or 0; only if the flag is
///             set: otherwise it is unknown
///      …    C name of the collection, UTF-8
///      …    M metadata, minified JSON object
///      …    4 length of the attachments in bytes (A); this and the next only if the flag is set
///      …    A RevisionAttachments
///      …    … body, or a PackedBody; absent if it is that of the previous revision
/// </code>
/// </summary>
internal readonly ref struct RevisionRecord(ReadOnlySpan<byte> bytes)
{
    /// <summary>The maximum number of consecutive revisions that share a body, all of which may be read to find it.</summary>
    public const int MaxShared = 16;

    private const int HeaderBytes = 16;
    private const byte DeletionFlag = 1, SharedFlag = 2, AttachmentsFlag = 4, PackedFlag = 8, ForcedFlag = 16,
        CreationFlag = 32, OwnFlag = 64, ForgottenFlag = 128;

    private readonly ReadOnlySpan<byte> _bytes = bytes;

    public bool IsDeletion => (_bytes[0] & DeletionFlag) != 0;

    /// <summary>How it came about.</summary>
    public RevisionOrigin Origin => new()
    {
        IsForced = (_bytes[0] & ForcedFlag) != 0,
        IsCreation = (_bytes[0] & CreationFlag) != 0,
        IsOwn = (_bytes[0] & OwnFlag) != 0,
        ForgottenTicks = HasForgotten
            ? BinaryPrimitives.ReadInt64LittleEndian(_bytes[HeaderBytes..])
            : (_bytes[0] & CreationFlag) != 0 ? RevisionOrigin.UnknownTicks : 0,
    };

    public bool IsShared => (_bytes[0] & SharedFlag) != 0;

    public int Shared => _bytes[1];

    public long Ticks => BinaryPrimitives.ReadInt64LittleEndian(_bytes[8..]);

    public ReadOnlySpan<byte> Collection => _bytes.Slice(Start, CollectionLength);

    public ReadOnlySpan<byte> Metadata => _bytes.Slice(Start + CollectionLength, MetadataLength);

    /// <summary>The attachments, as read by <see cref="RevisionAttachments"/>.</summary>
    public ReadOnlySpan<byte> Attachments =>
        HasAttachments ? _bytes.Slice(End + sizeof(int), BinaryPrimitives.ReadInt32LittleEndian(_bytes[End..])) : default;

    /// <summary>Whether its own body is a <see cref="PackedBody"/>.</summary>
    public bool IsPacked => (_bytes[0] & PackedFlag) != 0;

    /// <summary>Its own body as it is stored; empty if it is shared.</summary>
    public ReadOnlySpan<byte> StoredBody => _bytes[(HasAttachments ? End + sizeof(int) + Attachments.Length : End)..];

    private bool HasAttachments => (_bytes[0] & AttachmentsFlag) != 0;

    private bool HasForgotten => (_bytes[0] & ForgottenFlag) != 0;

    /// <summary>The offset of the name of its collection.</summary>
    private int Start => HasForgotten ? HeaderBytes + sizeof(long) : HeaderBytes;

    /// <summary>The offset of the end of its metadata.</summary>
    private int End => Start + CollectionLength + MetadataLength;

    private int CollectionLength => BinaryPrimitives.ReadUInt16LittleEndian(_bytes[2..]);

    private int MetadataLength => BinaryPrimitives.ReadInt32LittleEndian(_bytes[4..]);

    /// <summary>Encodes a revision; shared is 0 if it has its own body.</summary>
    public static byte[] Encode(
        string collection, long ticks, bool isDeletion, int shared, ReadOnlySpan<byte> metadata, ReadOnlySpan<byte> body,
        ReadOnlySpan<byte> attachments, RevisionOrigin origin, bool isPacked = false)
    {
        byte[] name = Encoding.UTF8.GetBytes(collection);
        if (shared > 0)
            body = default;
        isPacked &= shared == 0;
        int start = origin.KnowsForgotten ? HeaderBytes + sizeof(long) : HeaderBytes,
            end = start + name.Length + metadata.Length,
            attachmentBytes = attachments.IsEmpty ? 0 : sizeof(int) + attachments.Length;
        byte[] bytes = new byte[end + attachmentBytes + body.Length];
        bytes[0] = (byte)((isDeletion ? DeletionFlag : 0) | (shared > 0 ? SharedFlag : 0)
            | (attachments.IsEmpty ? 0 : AttachmentsFlag) | (isPacked ? PackedFlag : 0) | (origin.IsForced ? ForcedFlag : 0)
            | (origin.IsCreation ? CreationFlag : 0) | (origin.IsOwn ? OwnFlag : 0)
            | (origin.KnowsForgotten ? ForgottenFlag : 0));
        bytes[1] = (byte)shared;
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(2), (ushort)name.Length);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(4), metadata.Length);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(8), ticks);
        if (origin.KnowsForgotten)
            BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(HeaderBytes), origin.ForgottenTicks);
        name.CopyTo(bytes.AsSpan(start));
        metadata.CopyTo(bytes.AsSpan(start + name.Length));
        if (!attachments.IsEmpty)
            BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(end), attachments.Length);
        attachments.CopyTo(bytes.AsSpan(end + attachmentBytes - attachments.Length));
        body.CopyTo(bytes.AsSpan(end + attachmentBytes));
        return bytes;
    }

    /// <summary>Returns a copy with its own body.</summary>
    public byte[] WithBody(ReadOnlySpan<byte> body) =>
        Encode(
            Encoding.UTF8.GetString(Collection), Ticks, IsDeletion, 0, Metadata, body, Attachments, Origin);

    /// <summary>Returns a copy with other attachments.</summary>
    public byte[] WithAttachments(ReadOnlySpan<byte> attachments) =>
        Encode(
            Encoding.UTF8.GetString(Collection), Ticks, IsDeletion, Shared, Metadata, StoredBody, attachments, Origin, IsPacked);
}
