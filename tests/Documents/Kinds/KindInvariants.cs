using Treepie.Store;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>What must be true of the values beside documents at any moment: invariants 4 and 5 of the layout, and the counts.</summary>
internal static class KindInvariants
{
    public static void Check(Database database)
    {
        Assert.Empty(database.Check(TestContext.Current.CancellationToken).Problems);
        using DatabaseSnapshot snapshot = database.BeginRead();
        var counts = new Dictionary<(Kind, bool), long>();
        long logged = CheckLog(snapshot, snapshot.Kinds.Log(), isDeleted: false, counts) + CheckLog(snapshot, snapshot.Kinds.Deletions(), isDeleted: true, counts);
        Assert.Equal(snapshot.Kinds.Total, logged);
        foreach (Kind kind in Enum.GetValues<Kind>())
        {
            Assert.Equal(counts.GetValueOrDefault((kind, false)), snapshot.Kinds.Count(kind));
            Assert.Equal(counts.GetValueOrDefault((kind, true)), snapshot.Kinds.DeletedCount(kind));
        }

        using DocumentCursor documents = snapshot.ByEtag();
        while (documents.MoveNext())
            Assert.Equal(snapshot.Kinds.FlagsOf(CollectionName.Fold(documents.Current.Id)), documents.Current.Flags);
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
                Assert.True(isDeleted || owner.IsEmpty || snapshot.TryGet(owner, out Document _), "what belongs to a document goes with it");
                (Kind, bool) key = (KindKey.KindOf(log.Value), isDeleted);
                counts[key] = counts.GetValueOrDefault(key) + 1;
                entries++;
            }
        }

        return entries;
    }
}
