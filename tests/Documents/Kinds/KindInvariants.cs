using System.Security.Cryptography;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>
/// What must be true of the values beside documents at any moment: invariants 4 and 5 of the layout, and the counts.
/// </summary>
internal static class KindInvariants
{
    public static void Check(Database database)
    {
        Assert.Empty(database.Check(TestContext.Current.CancellationToken).Problems);
        using DatabaseSnapshot snapshot = database.BeginRead();
        var counts = new Dictionary<(Kind, bool), long>();
        long logged = CheckLog(snapshot, snapshot.Kinds.Log(), isDeleted: false, counts)
            + CheckLog(snapshot, snapshot.Kinds.Deletions(), isDeleted: true, counts);
        Assert.Equal(snapshot.Kinds.Total, logged);
        foreach (Kind kind in Enum.GetValues<Kind>())
        {
            Assert.Equal(counts.GetValueOrDefault((kind, false)), snapshot.Kinds.Count(kind));
            Assert.Equal(counts.GetValueOrDefault((kind, true)), snapshot.Kinds.DeletedCount(kind));
        }

        CheckContents(database, snapshot);
        CheckExpiring(database, snapshot);
        using DocumentCursor documents = snapshot.ByEtag();
        while (documents.MoveNext())
            Assert.Equal(snapshot.Kinds.FlagsOf(CollectionName.Fold(documents.Current.Id)), documents.Current.Flags);
    }

    /// <summary>Each compare-exchange value that expires, and no other, is in the index of times.</summary>
    private static void CheckExpiring(Database database, DatabaseSnapshot snapshot)
    {
        var values = new List<string>();
        using (LogReader log = snapshot.Kinds.Log())
        {
            while (log.MoveNext())
                if (DueTimes.OfItem(log.Value, snapshot.Kinds.RecordOf(log.Value).Value) is > 0L and var ticks)
                    values.Add($"{ticks} {Convert.ToHexString(KindKey.FoldedNameOfShared(log.Value))}");
        }

        var entries = new List<string>();
        using ReadTransaction read = database.Environment.BeginRead();
        using Cursor? cursor = read.FindTree(TreeNames.Due)?.OpenCursor();
        for (bool more = cursor?.MoveFirst() == true; more; more = cursor!.MoveNext())
            if (cursor!.Key[0] == (byte)DueAction.ExpireValue)
                entries.Add($"{DueIndex.TicksOf(cursor.Key)} {Convert.ToHexString(DueIndex.IdOf(cursor.Key))}");
        Assert.Equal(values.Order(StringComparer.Ordinal), entries.Order(StringComparer.Ordinal));
    }

    private static void CheckContents(Database database, DatabaseSnapshot snapshot)
    {
        var references = new Dictionary<string, long>(StringComparer.Ordinal);
        using (LogReader log = snapshot.Kinds.Log())
        {
            while (log.MoveNext())
            {
                KindRecord record = snapshot.Kinds.RecordOf(log.Value);
                if (KindKey.KindOf(log.Value) == Kind.Attachment)
                {
                    var attachment = new AttachmentRecord(record.Value);
                    Refer(snapshot, references, attachment.Hash, attachment.SizeBytes);
                }
                else if (KindKey.KindOf(log.Value) == Kind.Revision)
                {
                    for (var all = new RevisionAttachments(new RevisionRecord(record.Value).Attachments); all.MoveNext();)
                        Refer(snapshot, references, all.Hash, all.SizeBytes);
                }
            }
        }

        using ReadTransaction read = database.Environment.BeginRead();
        Assert.Equal(0, read.FindTree(TreeNames.ContentUploads)?.Count ?? 0);
        var found = new Dictionary<string, long>(StringComparer.Ordinal);
        long pieces = 0;
        using Cursor? cursor = read.FindTree(TreeNames.ContentsByHash)?.OpenCursor();
        for (bool more = cursor?.MoveFirst() == true; more; more = cursor!.MoveNext())
        {
            ContentRecord record = ContentRecord.Read(cursor!.Value);
            found[Convert.ToHexString(cursor.Key)] = record.References;
            pieces += Math.Max(1, (record.SizeBytes + ContentRecord.PieceBytes - 1) / ContentRecord.PieceBytes);
        }

        Assert.Equal(
            references.OrderBy(static pair => pair.Key, StringComparer.Ordinal),
            found.OrderBy(static pair => pair.Key, StringComparer.Ordinal));
        Assert.Equal(pieces, read.FindTree(TreeNames.Contents)?.Count ?? 0);
    }

    private static void Refer(
        DatabaseSnapshot snapshot, Dictionary<string, long> references, ReadOnlySpan<byte> hash, long sizeBytes)
    {
        string text = Convert.ToHexString(hash);
        references[text] = references.GetValueOrDefault(text) + 1;
        if (references[text] > 1)
            return; // it was read
        using var sha = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        long size = 0;
        for (ReadOnlySpan<byte> piece; !(piece = snapshot.Kinds.Content(hash, size)).IsEmpty; size += piece.Length)
            sha.AppendData(piece);
        Assert.Equal((sizeBytes, text), (size, Convert.ToHexString(sha.GetHashAndReset())));
    }

    private static long CheckLog(DatabaseSnapshot snapshot, LogReader log, bool isDeleted, Dictionary<(Kind, bool), long> counts)
    {
        long entries = 0;
        using (log)
        {
            while (log.MoveNext())
            {
                KindRecord record = snapshot.Kinds.RecordOf(log.Value);
                ReadOnlySpan<byte> owner = KindKey.OwnerOf(log.Value);
                Assert.Equal((log.Etag, isDeleted), (record.Etag, record.IsDeleted));
                Assert.True(
                    isDeleted || owner.IsEmpty || snapshot.TryGet(owner, out Document _),
                    "what belongs to a document goes with it");
                (Kind, bool) key = (KindKey.KindOf(log.Value), isDeleted);
                counts[key] = counts.GetValueOrDefault(key) + 1;
                entries++;
            }
        }

        return entries;
    }
}
