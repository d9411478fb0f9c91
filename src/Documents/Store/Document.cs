using System.Buffers;
using System.Text;
using Treepie.Json;

namespace Treepie.Store;

/// <summary>
/// A document, read in place from its page. Valid until its snapshot is disposed or releases its pages
/// (<see cref="DatabaseSnapshot.ReleasePages"/>).
/// </summary>
public readonly ref struct Document
{
    /// <summary>
    /// The length of the names, quotes and brackets of <c>@metadata</c> (75), a change vector (44) and a time (28), and a
    /// reserve.
    /// </summary>
    private const int MostBytesAround = 192;

    /// <summary>The separator before the index of a guard in a change vector.</summary>
    private static ReadOnlySpan<byte> GuardTag => ", TRXN"u8;

    private readonly DatabaseSnapshot _snapshot;
    private readonly DocumentRecord _record;

    internal Document(DatabaseSnapshot snapshot, ReadOnlySpan<byte> record)
    {
        _snapshot = snapshot;
        _record = new DocumentRecord(record);
    }

    /// <summary>The id in UTF-8, in the case in which it was first written; ids are compared case-insensitively.</summary>
    public ReadOnlySpan<byte> Id => _record.Id;

    /// <summary>The name of the collection, in UTF-8; <c>@empty</c> if none was specified.</summary>
    public ReadOnlySpan<byte> Collection => _snapshot.NameOf(_record.CollectionId).Utf8;

    /// <summary>The name of the collection. All documents of a collection share the same string instance.</summary>
    public string CollectionName => _snapshot.NameOf(_record.CollectionId).Text;

    /// <summary>The position of the document in the document log; increases with every change in the database.</summary>
    public long Etag => _record.Etag;

    /// <summary>When the document was last modified, in UTC ticks.</summary>
    public long LastModifiedTicks => _record.LastModifiedTicks;

    /// <summary>
    /// The JSON object without <c>@metadata</c>, as minified UTF-8. A compressed body is decompressed on first access.
    /// </summary>
    public ReadOnlySpan<byte> Body => _record.IsPacked ? _snapshot.Unpack(_record) : _record.StoredBody;

    /// <summary>The metadata set by the user and the client, as a minified UTF-8 JSON object; <c>{}</c> if there is
    /// none.</summary>
    public ReadOnlySpan<byte> Metadata => _record.Metadata is { IsEmpty: false } metadata ? metadata : "{}"u8;

    /// <summary>The body as it is stored, which may be a <see cref="PackedBody"/>.</summary>
    internal ReadOnlySpan<byte> StoredBody => _record.StoredBody;

    internal bool IsPacked => _record.IsPacked;

    /// <summary>The number of its collection.</summary>
    internal int CollectionId => _record.CollectionId;

    /// <summary>The snapshot it was read from.</summary>
    internal DatabaseSnapshot Snapshot => _snapshot;

    /// <summary>The kinds of related data it has.</summary>
    internal DocumentFlags Flags => _record.Flags;

    /// <summary>The number of bytes of body and metadata.</summary>
    internal int ContentBytes => _record.ContentBytes;

    /// <summary>The change vector, in the form that clients see.</summary>
    public string ChangeVector => _snapshot.ChangeVectors.Format(_record.Etag);

    /// <summary>
    /// Writes the document in the form that clients see: its fields, then <c>@metadata</c> with the user's metadata, <c>@id</c>,
    /// <c>@collection</c>, <c>@change-vector</c> and <c>@last-modified</c>. With <paramref name="metadataOnly"/>, writes only
    /// <c>{"@metadata":…}</c>.
    /// </summary>
    public void WriteTo(IBufferWriter<byte> output, bool metadataOnly = false) => WriteTo(output, metadataOnly, default);

    /// <summary>
    /// Same as <see cref="WriteTo(IBufferWriter{byte}, bool)"/>, with more members at the end of <c>@metadata</c>.
    /// <paramref name="extraMetadata"/> is valid JSON such as <c>"@index-score":1.5</c>, without a leading or trailing comma.
    /// </summary>
    public void WriteTo(IBufferWriter<byte> output, bool metadataOnly, ReadOnlySpan<byte> extraMetadata) =>
        WriteTo(output, metadataOnly, extraMetadata, default);

    /// <summary>
    /// Same as <see cref="WriteTo(IBufferWriter{byte}, bool)"/>, but if the document has an atomic guard, its change vector
    /// includes the index of the guard, as cluster-wide sessions expect.
    /// </summary>
    public void WriteGuardedTo(IBufferWriter<byte> output, bool metadataOnly = false)
    {
        Span<byte> folded = stackalloc byte[DocumentId.MaxFoldedBytes];
        if (!_snapshot.Kinds.TryGet(KindKey.OfGuard(folded[..DocumentId.Fold(_record.Id, folded)]), out KindRecord guard))
        {
            WriteTo(output, metadataOnly);
            return;
        }

        Span<byte> own = stackalloc byte[ChangeVectors.MaxLength],
            suffix = stackalloc byte[GuardTag.Length + ChangeVectors.MaxLength];
        ReadOnlySpan<byte> behindNode = own[1.._snapshot.ChangeVectors.Format(guard.Etag, own)];
        int length = Append(suffix, Append(suffix, 0, GuardTag), behindNode);
        WriteTo(output, metadataOnly, default, suffix[..length]);
    }

    private void WriteTo(
        IBufferWriter<byte> output, bool metadataOnly, ReadOnlySpan<byte> extraMetadata, ReadOnlySpan<byte> guard)
    {
        ReadOnlySpan<byte> body = metadataOnly ? default : Body;
        bool isAlone = body.Length <= 2;
        if (!isAlone)
            output.Write(body[..^1]);

        // The rest consists of many short pieces: assemble them in one buffer and write them at once.
        ReadOnlySpan<byte> metadata = _record.Metadata, id = _record.Id, given = default;
        ReadOnlySpan<byte> collection = _snapshot.NameOf(_record.CollectionId).Json;
        if (_record.Flags != DocumentFlags.None && MetadataFlags.TryFind(metadata, out given))
            // they are written together with the flags of related data
            metadata = MetadataMember.Without(metadata, MetadataKeys.Flags);
        Span<byte> room = output.GetSpan(
            MostBytesAround + metadata.Length + JsonStrings.MostBytes(id) + collection.Length
                + extraMetadata.Length + guard.Length);
        int at = Append(room, 0, isAlone ? "{\"@metadata\":"u8 : ",\"@metadata\":"u8);
        at = metadata.IsEmpty ? Append(room, at, "{"u8) : Append(room, Append(room, at, metadata[..^1]), ","u8);
        at = Append(room, at, "\"@id\":"u8);
        at += JsonStrings.Write(room[at..], id);
        at = Append(room, at, ",\"@collection\":"u8);
        at = Append(room, at, collection);
        at = Append(room, at, ",\"@change-vector\":\""u8);
        at += _snapshot.ChangeVectors.Format(_record.Etag, room[at..]);
        at = Append(room, at, guard);
        at = Append(room, at, "\",\"@last-modified\":\""u8);
        new DateTime(_record.LastModifiedTicks, DateTimeKind.Utc).TryFormat(
            room[at..], out int written, "O", System.Globalization.CultureInfo.InvariantCulture);
        at += written;
        if (_record.Flags != DocumentFlags.None)
        {
            output.Advance(Append(room, at, "\""u8));
            _snapshot.WriteBeside(output, id, _record.Flags, given);
            room = output.GetSpan(extraMetadata.Length + MostBytesAround);
            at = extraMetadata.IsEmpty ? 0 : Append(room, 0, ","u8);
        }
        else
        {
            at = Append(room, at, extraMetadata.IsEmpty ? "\""u8 : "\","u8);
        }

        at = Append(room, Append(room, at, extraMetadata), "}}"u8);
        output.Advance(at);
    }

    private static int Append(Span<byte> room, int at, ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(room[at..]);
        return at + bytes.Length;
    }

    /// <summary>Returns the id as a string.</summary>
    public string IdText() => Encoding.UTF8.GetString(_record.Id);

    /// <summary>Returns the id as a string: the given one, if it is spelt identically.</summary>
    internal string IdText(string given) => Ascii.Equals(_record.Id, given) ? given : IdText();
}
