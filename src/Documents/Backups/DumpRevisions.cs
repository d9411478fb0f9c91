using System.Buffers;
using System.Globalization;
using System.Text;
using Treepie.Json;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Revisions in dumps: documents as RavenDB's tools have them, with what is to be known of them here in a member of their
/// metadata (<c>@treepie-revision</c>): how many revisions before have the body, when it was written, and how long its metadata
/// is.
/// </summary>
internal static class DumpRevisions
{
    public const string Section = "RevisionDocuments";

    /// <summary>The section of dumps up to format 8: key and value as they are.</summary>
    public const string RawSection = "TreepieRevisions";

    public static ReadOnlySpan<byte> Mark => "@treepie-revision"u8;

    /// <summary>Writes one, whose body may be that of another.</summary>
    public static void Write(
        IBufferWriter<byte> output, ReadOnlySpan<byte> key, DatabaseSnapshot snapshot, bool withAttachments)
    {
        KindRecord record = snapshot.Kinds.RecordOf(key);
        var value = new RevisionRecord(record.Value);
        string mark = string.Create(
            CultureInfo.InvariantCulture,
            $",\"@treepie-revision\":\"{value.Shared},{record.Ticks},{value.Metadata.Length}\"");
        var revision = Revision.Read(key, record, snapshot.Kinds, snapshot.ChangeVectors, metadataOnly: false);
        (withAttachments ? revision : revision.WithoutAttachments()).WriteTo(
            output, metadataOnly: false, Encoding.UTF8.GetBytes(mark));
    }

    /// <summary>What was read, as a value.</summary>
    /// <param name="document">The revision.</param>
    /// <param name="etag">Its etag.</param>
    /// <param name="nowTicks">When it was changed, where it does not say so.</param>
    /// <param name="attachments">Its attachments, in the form of <see cref="RevisionAttachments"/>.</param>
    /// <exception cref="FormatException">What this program wrote into it has been changed.</exception>
    public static RestoredKind Read(DumpDocument document, long etag, long nowTicks, ReadOnlySpan<byte> attachments)
    {
        long ticks = document.LastModified?.Ticks ?? nowTicks, writtenTicks = ticks;
        bool isDeletion = document.Flags.Contains("DeleteRevision", StringComparison.Ordinal);
        ReadOnlySpan<byte> metadata = document.Metadata;
        int shared = 0;
        if (document.RevisionMark is { } mark)
        {
            string[] numbers = mark.Split(',');
            if (numbers.Length != 3
                || !int.TryParse(numbers[0], NumberStyles.None, CultureInfo.InvariantCulture, out shared)
                || shared > RevisionRecord.MaxShared
                || !long.TryParse(numbers[1], NumberStyles.None, CultureInfo.InvariantCulture, out writtenTicks))
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
                isForced: document.Flags.Contains(Revision.ForcedFlag, StringComparison.Ordinal)), etag,
            writtenTicks, IsDeleted: false)
        {
            SharedBody = shared > 0 ? document.Body.ToArray() : default,
        };
    }
}
