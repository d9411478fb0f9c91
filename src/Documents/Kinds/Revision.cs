using System.Buffers;
using System.Globalization;
using System.Text;
using Treepie.Json;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>A revision: a past state of a document, or its deletion.</summary>
/// <param name="Id">The id of the document.</param>
/// <param name="Etag">The etag of the revision.</param>
/// <param name="ChangeVector">The change vector of the revision.</param>
/// <param name="Collection">The collection of the document.</param>
/// <param name="LastModified">When this state was written (UTC).</param>
/// <param name="IsDeletion">Whether the revision is a deletion of the document.</param>
public sealed record Revision(
    string Id, long Etag, string ChangeVector, string Collection, DateTime LastModified, bool IsDeletion)
{
    /// <summary>Its flag in metadata, if <see cref="IsForced"/>.</summary>
    internal const string ForcedFlag = "ForceCreated";

    /// <summary>Whether it was created on request, when the configuration would not have created one.</summary>
    public bool IsForced { get; private init; }

    /// <summary>The metadata: a JSON object, as minified UTF-8.</summary>
    public ReadOnlyMemory<byte> Metadata { get; private init; }

    /// <summary>The body: a JSON object, as minified UTF-8.</summary>
    public ReadOnlyMemory<byte> Body { get; private init; }

    /// <summary>The attachments that the document had, sorted by name, case-insensitively.</summary>
    public IReadOnlyList<AttachmentValue> Attachments { get; private init; } = [];

    /// <summary>The attachments in the form of <see cref="RevisionAttachments"/>.</summary>
    internal ReadOnlyMemory<byte> AttachmentList { get; private init; }

    /// <summary>Writes the revision in the form that clients see: its fields, then <c>@metadata</c>.</summary>
    public void WriteTo(IBufferWriter<byte> output, bool metadataOnly = false)
    {
        ArgumentNullException.ThrowIfNull(output);
        WriteTo(output, metadataOnly, default);
    }

    /// <summary>Writes the revision with additional metadata members, each with a leading comma.</summary>
    internal void WriteTo(IBufferWriter<byte> output, bool metadataOnly, ReadOnlySpan<byte> more)
    {
        bool isAlone = metadataOnly || Body.Length <= 2;
        if (!isAlone)
            output.Write(Body.Span[..^1]);
        output.Write(isAlone ? "{\"@metadata\":{"u8 : ",\"@metadata\":{"u8);
        if (Metadata.Length > 2)
        {
            output.Write(Metadata.Span[1..^1]);
            output.Write(","u8);
        }

        output.Write("\"@id\":"u8);
        JsonStrings.Write(output, Encoding.UTF8.GetBytes(Id));
        output.Write(",\"@collection\":"u8);
        JsonStrings.Write(output, Encoding.UTF8.GetBytes(Collection));
        output.Write(
            IsDeletion
                ? ",\"@flags\":\"HasRevisions, DeleteRevision"u8
                : ",\"@flags\":\"HasRevisions, Revision"u8);
        if (IsForced)
            output.Write(", ForceCreated"u8);
        if (!AttachmentList.IsEmpty)
        {
            output.Write(", HasAttachments\",\"@attachments\":"u8);
            RevisionAttachments.WriteJson(output, AttachmentList.Span);
        }
        else
        {
            output.Write("\""u8);
        }

        output.Write(",\"@change-vector\":\""u8);
        output.Write(Encoding.UTF8.GetBytes(ChangeVector));
        output.Write("\",\"@last-modified\":\""u8);
        output.Write(Encoding.UTF8.GetBytes(LastModified.ToString("O", CultureInfo.InvariantCulture)));
        output.Write("\""u8);
        output.Write(more);
        output.Write("}}"u8);
    }

    /// <summary>Returns a copy without attachments.</summary>
    internal Revision WithoutAttachments() => this with { Attachments = [], AttachmentList = default };

    internal static Revision Read(
        ReadOnlySpan<byte> key, KindRecord record, KindItems items, ChangeVectors changeVectors, bool metadataOnly)
    {
        var revision = new RevisionRecord(record.Value);
        long etag = TreeNames.EtagOfKey(key);
        return new Revision(
            Encoding.UTF8.GetString(record.Name), etag, changeVectors.Format(etag), Encoding.UTF8.GetString(revision.Collection),
            new DateTime(revision.Ticks, DateTimeKind.Utc), revision.IsDeletion)
        {
            IsForced = revision.Origin.IsForced,
            Metadata = revision.Metadata.ToArray(),
            Body = metadataOnly ? default : items.RevisionBody(key).ToArray(),
            AttachmentList = revision.Attachments.ToArray(),
            Attachments = Read(
                Encoding.UTF8.GetString(record.Name), revision.Attachments, etag, changeVectors),
        };
    }

    private static List<AttachmentValue> Read(
        string documentId, ReadOnlySpan<byte> list, long etag, ChangeVectors changeVectors)
    {
        List<AttachmentValue> attachments = [];
        for (var all = new RevisionAttachments(list); all.MoveNext();)
            attachments.Add(
                new AttachmentValue(
                    documentId, Encoding.UTF8.GetString(all.Name), Encoding.UTF8.GetString(all.ContentType),
                    Convert.ToBase64String(all.Hash), all.SizeBytes, etag, changeVectors.Format(etag)));
        return attachments;
    }
}
