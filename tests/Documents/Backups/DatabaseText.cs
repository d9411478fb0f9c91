using System.Globalization;
using System.Text;
using Treepie.Store;

namespace Treepie.Documents.Tests.Backups;

/// <summary>
/// All of a database that can be seen from outside, as lines of text, so that two can be compared and a difference read.
/// </summary>
internal static class DatabaseText
{
    public static List<string> Of(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        List<string> lines = [
            string.Create(
                CultureInfo.InvariantCulture,
                $"database {database.Id}, last etag {snapshot.LastEtag}, {snapshot.DocumentCount} documents, "
                        + $"{snapshot.TombstoneCount} tombstones")];
        using (DocumentCursor cursor = snapshot.ByEtag())
        {
            while (cursor.MoveNext())
            {
                Document document = cursor.Current;
                lines.Add(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"document {document.IdText()} in {document.CollectionName}, {document.ChangeVector}, "
                                + $"{document.LastModifiedTicks}: {Text(document.Metadata)} {Text(document.Body)} "
                                + $"{Text(Written(document))}"));
            }
        }

        lines.AddRange(Feed(snapshot, null));
        foreach (CollectionStatistics collection in snapshot.AllCollections())
        {
            lines.Add(Invariant($"{collection}"));
            lines.AddRange(Feed(snapshot, collection.Name));
        }

        lines.AddRange(Beside(snapshot));
        lines.AddRange(snapshot.Identities().Select(identity => Invariant($"identity {identity.Key} {identity.Value}")));
        return lines;
    }

    public static List<string> IndexesOf(Database database) =>
        [.. database.Indexes.List()
            .Select(
                index => Invariant(
                    $"{index.Name} over {string.Join(", ", index.Collections)}: {string.Join(", ", index.Fields)}"))];

    private static List<string> Beside(DatabaseSnapshot snapshot)
    {
        var lines = new List<string>();
        foreach (LogReader log in (LogReader[])[snapshot.Kinds.Log(), snapshot.Kinds.Deletions()])
        {
            while (log.MoveNext())
            {
                KindRecord record = snapshot.Kinds.RecordOf(log.Value);
                bool isRevision = KindKey.KindOf(log.Value) == Kind.Revision && !record.IsDeleted;
                ReadOnlySpan<byte> value = isRevision ? snapshot.Kinds.RevisionValue(log.Value) : record.Value;
                lines.Add(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"beside {log.Etag} {Convert.ToHexString(log.Value)} {Text(record.Name)} {record.Ticks} "
                                + $"{record.IsDeleted} {Convert.ToHexString(value)}"));
            }

            log.Dispose();
        }

        foreach (Kind kind in Enum.GetValues<Kind>())
            lines.Add(Invariant($"{kind}: {snapshot.Kinds.Count(kind)}, {snapshot.Kinds.DeletedCount(kind)} deleted"));
        return lines;
    }

    private static List<string> Feed(DatabaseSnapshot snapshot, string? collection)
    {
        var lines = new List<string>();
        using ChangeFeed feed = snapshot.Changes(collection, 0);
        while (feed.MoveNext())
            lines.Add(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"  {collection ?? "all"} {feed.Etag} {(feed.IsTombstone ? "deleted" : "changed")} {Text(feed.Id)} in "
                            + $"{Text(feed.Collection)}"));
        return lines;
    }

    private static byte[] Written(Document document)
    {
        var output = new System.Buffers.ArrayBufferWriter<byte>();
        document.WriteTo(output, metadataOnly: true);
        return output.WrittenSpan.ToArray();
    }

    private static string Text(ReadOnlySpan<byte> utf8) => Encoding.UTF8.GetString(utf8);

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
