using Treepie.Kinds;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

public sealed class CountersTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Concurrent_increments_lose_nothing()
    {
        await using Database database = Database.Open(_directory.Path);
        await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8.ToArray()), Cancel);
        const int Clients = 20, Each = 25;
        await Task.WhenAll(Enumerable.Range(0, Clients).Select(client => Task.Run(
            async () =>
            {
                for (int i = 0; i < Each; i++)
                    await database.WriteAsync(new WriteBatch().IncrementCounter("D/1", "likes", client), Cancel);
            },
            Cancel)));
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(Each * Clients * (Clients - 1) / 2, snapshot.Counter("d/1", "Likes")?.Value);
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task A_document_has_another_change_vector_only_when_the_names_of_its_counters_change()
    {
        await using Database database = Database.Open(_directory.Path);
        await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8.ToArray()), Cancel);
        string before = ChangeVector(database);
        await database.WriteAsync(new WriteBatch().IncrementCounter("d/1", "likes"), Cancel);
        string made = ChangeVector(database);
        Assert.NotEqual(before, made);
        await database.WriteAsync(new WriteBatch().IncrementCounter("d/1", "likes", 5), Cancel);
        Assert.Equal(made, ChangeVector(database));
        await database.WriteAsync(new WriteBatch().DeleteCounter("d/1", "nothing"), Cancel);
        Assert.Equal(made, ChangeVector(database));
        await database.WriteAsync(new WriteBatch().DeleteCounter("d/1", "LIKES"), Cancel);
        Assert.NotEqual(made, ChangeVector(database));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task What_cannot_be_counted_is_refused_and_nothing_changes()
    {
        await using Database database = Database.Open(_directory.Path);
        await database.WriteAsync(
            new WriteBatch().Put("d/1", "{}"u8.ToArray()).IncrementCounter("d/1", "c", long.MaxValue), Cancel);
        long etag = database.LastEtag;
        await Assert.ThrowsAsync<CounterOverflowException>(
            () => database.WriteAsync(new WriteBatch().Put("d/2", "{}"u8.ToArray()).IncrementCounter("d/1", "c"), Cancel));
        await Assert.ThrowsAsync<DocumentNotFoundException>(
            () => database.WriteAsync(new WriteBatch().Put("d/2", "{}"u8.ToArray()).IncrementCounter("d/3", "c"), Cancel));
        Assert.Throws<InvalidDocumentException>(() => new WriteBatch().IncrementCounter("d/1", " "));
        Assert.Throws<InvalidDocumentException>(() => new WriteBatch().IncrementCounter("d/1", new string('x', 513)));
        Assert.Throws<InvalidDocumentException>(() => new WriteBatch().IncrementCounter("d/1", "\uD800"));
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal((etag, 1L, long.MaxValue), (snapshot.LastEtag, snapshot.DocumentCount, snapshot.Counter("d/1", "c")!.Value));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task A_document_that_comes_back_has_no_counters_of_before()
    {
        await using Database database = Database.Open(_directory.Path);
        await database.WriteAsync(
            new WriteBatch().Put("d/1", "{}"u8.ToArray()).IncrementCounter("d/1", "c").Delete("d/1").Put("d/1", "{}"u8.ToArray()),
            Cancel);
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Empty(snapshot.Counters("d/1"));
        await database.WriteAsync(new WriteBatch().IncrementCounter("d/1", "C"), Cancel);
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Equal(("C", 1L), (snapshot.Counters("d/1").Single().Name, snapshot.Counters("d/1").Single().Value));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task Ten_thousand_counters_of_a_document_are_listed_in_order()
    {
        await using Database database = Database.Open(_directory.Path);
        using (var batch = new WriteBatch())
        {
            batch.Put("d/1", "{}"u8.ToArray());
            batch.Counters(
                "d/1",
                [.. Enumerable.Range(0, 10_000)
                    .Select(static number => CounterOperation.Of(CounterOperationKind.Increment, $"c{number:d5}", number))]);
            await database.WriteAsync(batch, Cancel);
        }

        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Equal(
                Enumerable.Range(0, 10_000).Select(static number => (long)number),
                snapshot.Counters("d/1").Select(static counter => counter.Value));
        await database.WriteAsync(new WriteBatch().DeleteByPrefix("d/"), Cancel);
        Assert.Equal(0, database.GetStatistics().CounterCount);
        KindInvariants.Check(database);
    }

    private static string ChangeVector(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet("d/1", out Document document));
        return document.ChangeVector;
    }
}
