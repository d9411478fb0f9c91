using System.Buffers;
using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Store;

/// <summary>
/// A cursor over the attachments of a revision, sorted by name, case-insensitively. Each is stored as, little-endian:
/// <code>
/// OFFSET SIZE MEANING
///      0   32 SHA-256 of the content
///     32    8 length of the content
///     40    2 length of the name in bytes (N)
///     42    2 length of the content type in bytes (T)
///     44    N name as first written, UTF-8
///   44+N    T content type, UTF-8
/// </code>
/// </summary>
internal ref struct RevisionAttachments(ReadOnlySpan<byte> list)
{
    private const int HeaderBytes = ContentRecord.HashBytes + sizeof(long) + (2 * sizeof(ushort));

    private readonly ReadOnlySpan<byte> _list = list;
    private int _at;
    private int _next;

    public readonly ReadOnlySpan<byte> Hash => _list.Slice(_at, ContentRecord.HashBytes);

    public readonly long SizeBytes => BinaryPrimitives.ReadInt64LittleEndian(_list[(_at + ContentRecord.HashBytes)..]);

    public readonly ReadOnlySpan<byte> Name => _list.Slice(_at + HeaderBytes, NameLength);

    public readonly ReadOnlySpan<byte> ContentType => _list.Slice(_at + HeaderBytes + NameLength, TypeLength);

    private readonly int NameLength => BinaryPrimitives.ReadUInt16LittleEndian(_list[(_at + HeaderBytes - 4)..]);

    private readonly int TypeLength => BinaryPrimitives.ReadUInt16LittleEndian(_list[(_at + HeaderBytes - 2)..]);

    public bool MoveNext()
    {
        _at = _next;
        if (_at == _list.Length)
            return false;
        _next = _at + HeaderBytes + NameLength + TypeLength;
        Debug.Assert(_next <= _list.Length, "every attachment of a revision is whole");
        return true;
    }

    /// <summary>Appends an attachment.</summary>
    public static void Append(
        IBufferWriter<byte> list, ReadOnlySpan<byte> hash, long sizeBytes, ReadOnlySpan<byte> name,
        ReadOnlySpan<byte> contentType)
    {
        Span<byte> room = list.GetSpan(HeaderBytes);
        hash.CopyTo(room);
        BinaryPrimitives.WriteInt64LittleEndian(room[ContentRecord.HashBytes..], sizeBytes);
        BinaryPrimitives.WriteUInt16LittleEndian(room[(HeaderBytes - 4)..], checked((ushort)name.Length));
        BinaryPrimitives.WriteUInt16LittleEndian(room[(HeaderBytes - 2)..], checked((ushort)contentType.Length));
        list.Advance(HeaderBytes);
        list.Write(name);
        list.Write(contentType);
    }

    /// <summary>Returns the current attachments of a document.</summary>
    public static byte[] Of(KindItems items, ReadOnlySpan<byte> foldedId)
    {
        using KindCursor cursor = items.Under(KindKey.Prefix(Kind.Attachment, foldedId));
        ArrayBufferWriter<byte>? list = null;
        while (cursor.MoveNext())
        {
            KindRecord record = cursor.Record;
            var attachment = new AttachmentRecord(record.Value);
            Append(
                list ??= new ArrayBufferWriter<byte>(), attachment.Hash, attachment.SizeBytes, record.Name,
                attachment.ContentType);
        }

        return list?.WrittenSpan.ToArray() ?? [];
    }

    /// <summary>Returns the attachments of a list whose contents exist.</summary>
    public static byte[] Where(ReadOnlySpan<byte> list, Func<byte[], bool> hasContent)
    {
        var kept = new ArrayBufferWriter<byte>(Math.Max(1, list.Length));
        for (var all = new RevisionAttachments(list); all.MoveNext();)
            if (hasContent(all.Hash.ToArray()))
                Append(kept, all.Hash, all.SizeBytes, all.Name, all.ContentType);
        return kept.WrittenSpan.ToArray();
    }

    /// <summary>Writes a list in the form used in metadata.</summary>
    public static void WriteJson(IBufferWriter<byte> output, ReadOnlySpan<byte> list)
    {
        output.Write("["u8);
        bool first = true;
        for (var all = new RevisionAttachments(list); all.MoveNext(); first = false)
        {
            output.Write(first ? ""u8 : ","u8);
            AttachmentRecord.WriteJson(output, all.Name, all.Hash, all.ContentType, all.SizeBytes);
        }

        output.Write("]"u8);
    }
}
