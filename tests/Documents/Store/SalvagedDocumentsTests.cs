using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Store;

/// <summary>
/// What a salvage left in part is made a database again, and a run that was interrupted on the way is made good by the next
/// opening.
/// </summary>
public sealed class SalvagedDocumentsTests
{
    private const int Documents = 12_000; // in steps of 5,000

    [Fact]
    public async Task A_rebuild_that_was_interrupted_after_some_of_its_steps_is_done_again_at_the_next_opening()
    {
        using var directory = new TemporaryDirectory();
        (long etag, Guid id) = await FillAsync(directory.Path);
        string path = Path.Combine(directory.Path, "documents");
        Mark(path);

        // Room for the first steps, and not for all.
        bool wasInterrupted = false;
        for (long room = new FileInfo(Path.Combine(path, "data.treepie")).Length; !wasInterrupted; room += 128 << 10)
        {
            using StorageEnvironment environment = StorageEnvironment.Open(
                path, new StorageOptions { MaxDataFileBytes = Math.Max(room, 1 << 20) });
            Assert.Contains(
                "MaxDataFileBytes",
                Assert.Throws<StorageException>(() => new SalvagedDocuments(environment).RunIfMarked()).Message,
                StringComparison.Ordinal);
            using ReadTransaction read = environment.BeginRead();
            Assert.NotNull(read.FindTree(SalvagedDocuments.Mark));
            wasInterrupted = read.FindTree(TreeNames.DocumentsByEtag)?.Count is > 0 and < Documents;
        }

        await using Database database = Database.Open(directory.Path);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(id, database.Id);
        Assert.Equal((etag, Documents), (snapshot.LastEtag, snapshot.DocumentCount));
        foreach (string name in new[] { "Odd", "Even" })
            Assert.Equal(Documents / 2, snapshot.Collection(name)?.DocumentCount);
        AssertSame(snapshot.ByEtag(), Enumerable.Range(0, Documents));
        AssertSame(snapshot.ByCollection("Odd"), Enumerable.Range(0, Documents).Where(number => number % 2 == 1));
        await database.WriteAsync(new WriteBatch().Put("d/new", "{}"u8.ToArray()), TestContext.Current.CancellationToken);
    }

    private static void AssertSame(DocumentCursor cursor, IEnumerable<int> numbers)
    {
        using (cursor)
        {
            foreach (int number in numbers)
            {
                Assert.True(cursor.MoveNext());
                Assert.Equal($"d/{number:d5}", System.Text.Encoding.UTF8.GetString(cursor.Current.Id));
            }

            Assert.False(cursor.MoveNext());
        }
    }

    private static async Task<(long LastEtag, Guid Id)> FillAsync(string path)
    {
        await using Database database = Database.Open(path);
        for (int from = 0; from < Documents; from += 2000)
        {
            var batch = new WriteBatch();
            for (int number = from; number < from + 2000; number++)
                batch.Put(
                    $"d/{number:d5}",
                    number % 2 == 0
                        ? """{"@metadata":{"@collection":"Even"}}"""u8.ToArray()
                        : """{"@metadata":{"@collection":"Odd"}}"""u8.ToArray());
            await database.WriteAsync(batch, TestContext.Current.CancellationToken);
        }

        using DatabaseSnapshot snapshot = database.BeginRead();
        return (snapshot.LastEtag, database.Id);
    }

    /// <summary>As the command that salvages leaves it where a log is damaged.</summary>
    private static void Mark(string path)
    {
        using StorageEnvironment environment = StorageEnvironment.Open(path);
        environment.Write(transaction =>
        {
            transaction.DropTree(TreeNames.DocumentsByEtag);
            transaction.DropTree(TreeNames.CollectionsByName);
            transaction.GetOrCreateTree(SalvagedDocuments.Mark);
            return true;
        });
    }
}
