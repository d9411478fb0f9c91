using System.Buffers;
using System.Globalization;
using System.Text;
using Treepie.Json;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Revisions in dumps: documents in the form of RavenDB's tools, with additional information in a member of their metadata
/// (<c>@treepie-revision</c>): how many revisions back the body is stored, when the revision was written, the length of its
/// metadata; then, unless they are 0, flags (1 if the document was created with it, 2 if it was written after the previous
/// one) and, if it is known, the latest time of a deletion that was forgotten when the document was created.
/// </summary>
internal static class DumpRevisions
{
    public const string Section = "RevisionDocuments";

    /// <summary>The section of dumps up to format 8, with keys and values as stored.</summary>
    public const string RawSection = "TreepieRevisions";

    private const int CreationFlag = 1, OwnFlag = 2;

    public static ReadOnlySpan<byte> Mark => "@treepie-revision"u8;

    /// <summary>Writes a revision, whose body may be stored with another revision.</summary>
    public static void Write(
        IBufferWriter<byte> output, ReadOnlySpan<byte> key, DatabaseSnapshot snapshot, bool withAttachments)
    {
        KindRecord record = snapshot.Kinds.RecordOf(key);
        var value = new RevisionRecord(record.Value);
        RevisionOrigin origin = value.Origin;
        int flags = (origin.IsCreation ? CreationFlag : 0) | (origin.IsOwn ? OwnFlag : 0);
        string mark = string.Create(
            CultureInfo.InvariantCulture,
            $",\"@treepie-revision\":\"{value.Shared},{record.Ticks},{value.Metadata.Length}"
                + $"{(flags != 0 ? $",{flags}" : "")}{(origin.KnowsForgotten ? $",{origin.ForgottenTicks}" : "")}\"");
        var revision = Revision.Read(key, record, snapshot.Kinds, snapshot.ChangeVectors, metadataOnly: false);
        (withAttachments ? revision : revision.WithoutAttachments()).WriteTo(
            output, metadataOnly: false, Encoding.UTF8.GetBytes(mark));
    }

    /// <summary>Converts a revision that was read to a stored item.</summary>
    /// <param name="document">The revision.</param>
    /// <param name="etag">The etag of the revision.</param>
    /// <param name="nowTicks">The time of the change, if the revision does not contain it.</param>
    /// <param name="attachments">The list of its attachments, in the form of <see cref="RevisionAttachments"/>.</param>
    /// <exception cref="FormatException">The information added by this program was modified.</exception>
    public static RestoredKind Read(DumpDocument document, long etag, long nowTicks, ReadOnlySpan<byte> attachments)
    {
        long ticks = document.LastModified?.Ticks ?? nowTicks, writtenTicks = ticks;
        bool isDeletion = document.Flags.Contains("DeleteRevision", StringComparison.Ordinal);
        ReadOnlySpan<byte> metadata = document.Metadata;
        int shared = 0;
        int flags = 0;
        long forgotten = RevisionOrigin.UnknownTicks;
        if (document.RevisionMark is { } mark)
        {
            string[] numbers = mark.Split(',');
            if (numbers.Length is < 3 or > 5
                || !int.TryParse(numbers[0], NumberStyles.None, CultureInfo.InvariantCulture, out shared)
                || shared > RevisionRecord.MaxShared
                || !long.TryParse(numbers[1], NumberStyles.None, CultureInfo.InvariantCulture, out writtenTicks)
                || (numbers.Length > 3
                    && !int.TryParse(numbers[3], NumberStyles.None, CultureInfo.InvariantCulture, out flags))
                || flags > (CreationFlag | OwnFlag)
                || (numbers.Length > 4
                    && !long.TryParse(numbers[4], NumberStyles.None, CultureInfo.InvariantCulture, out forgotten)))
                throw new FormatException("the mark of a revision is none");
            metadata = MetadataMember.Without(metadata, Mark);
            if (metadata.Length <= 2)
                metadata = numbers[2] == "0" ? default : "{}"u8;
        }

        byte[] folded = CollectionName.Fold(document.IdUtf8);
        return new RestoredKind(
            KindKey.OfRevision(folded, etag), document.IdUtf8.ToArray(),
            RevisionRecord.Encode(
                document.Collection.Text, ticks, isDeletion, shared, metadata, document.Body, attachments,
                new RevisionOrigin
                {
                    IsForced = document.Flags.Contains(Revision.ForcedFlag, StringComparison.Ordinal),
                    IsCreation = (flags & CreationFlag) != 0,
                    IsOwn = (flags & OwnFlag) != 0,
                    ForgottenTicks = forgotten,
                }),
            etag, writtenTicks, IsDeleted: false)
        {
            SharedBody = shared > 0 ? document.Body.ToArray() : default,
        };
    }
}
