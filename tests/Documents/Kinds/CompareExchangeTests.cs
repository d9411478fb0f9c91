using System.Text;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Sessions;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

public sealed class CompareExchangeTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Of_many_who_expect_the_same_index_one_succeeds()
    {
        await using Database database = Database.Open(_directory.Path);
        const int Clients = 8, Wins = 20;
        await Task.WhenAll(Enumerable.Range(0, Clients).Select(_ => Task.Run(() => IncreaseAsync(database, Wins), Cancel)));
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal($"{{\"Object\":{Clients * Wins}}}", Encoding.UTF8.GetString(snapshot.CompareExchange("N")!.Body.Span));
    }

    [Fact]
    public async Task A_cluster_wide_batch_names_each_conflict_and_changes_nothing()
    {
        await using Database database = Database.Open(_directory.Path);
        await database.WriteAsync(
            ClusterWide().Put("d/1", "{}"u8.ToArray()).PutCompareExchange("k", "{\"Object\":1}"u8, 0), Cancel);
        long etag = database.LastEtag;
        WriteBatch batch = ClusterWide()
            .Put("D/1", "{\"x\":1}"u8.ToArray())
            .Put("d/2", "{}"u8.ToArray())
            .PutCompareExchange("K", "{\"Object\":2}"u8, 0)
            .DeleteCompareExchange("none", 7);
        ClusterTransactionConcurrencyException error = await Assert.ThrowsAsync<ClusterTransactionConcurrencyException>(
            () => database.WriteAsync(batch, Cancel));
        Assert.Equal(
            [("D/1", true, 0L), ("K", false, 0L)],
            error.Conflicts.Select(static conflict => (conflict.Id, conflict.IsDocument, conflict.Expected)));
        Assert.Equal(etag, database.LastEtag);
    }

    [Fact]
    public async Task A_guard_moves_with_each_cluster_wide_write_and_ends_with_the_document()
    {
        await using Database database = Database.Open(_directory.Path);
        string first = (await database.WriteAsync(ClusterWide().Put("d/1", "{}"u8.ToArray()), Cancel))[0].ChangeVector!;
        Assert.Contains(", TRXN:", first, StringComparison.Ordinal);
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            Assert.True(snapshot.TryGet("d/1", out Document document));
            var output = new System.Buffers.ArrayBufferWriter<byte>();
            document.WriteGuardedTo(output);
            Assert.Contains(
                $"\"@change-vector\":\"{first}\"", Encoding.UTF8.GetString(output.WrittenSpan), StringComparison.Ordinal);
            Assert.Equal(first, snapshot.GuardedChangeVector("d/1", document.ChangeVector));
        }

        string second = (await database.WriteAsync(
            ClusterWide().Put("d/1", "{\"n\":2}"u8, first, first), Cancel))[0].ChangeVector!;
        await Assert.ThrowsAsync<ClusterTransactionConcurrencyException>(
            () => database.WriteAsync(ClusterWide().Put("d/1", "{}"u8, null, first), Cancel));
        await database.WriteAsync(ClusterWide().Delete("d/1", null, second), Cancel);
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Equal(0, snapshot.AtomicGuardIndex("d/1"));
        // the longest id has a guard too
        await database.WriteAsync(ClusterWide().Put(new string('x', 512), "{}"u8.ToArray()), Cancel);
        await database.WriteAsync(
            new WriteBatch { IsClusterWide = true, DisableAtomicGuards = true }.Put("d/2", "{}"u8.ToArray()), Cancel);
        Assert.Equal(1, database.GetStatistics().CompareExchangeCount);
        KindInvariants.Check(database);
    }

    [Theory]
    [InlineData("delete")]
    [InlineData("prefix")]
    [InlineData("expiration")]
    public async Task A_guard_goes_with_its_document_however_that_is_deleted(string how)
    {
        var clock = new ManualClock();
        await using Database database = Database.Open(_directory.Path, new DatabaseOptions { TimeProvider = clock });
        await database.Lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings(), Cancel);
        string first = (await database.WriteAsync(
            ClusterWide().Put("d/1", "{\"@metadata\":{\"@expires\":\"2026-02-01T00:00:00.0000000Z\"}}"u8.ToArray()),
            Cancel))[0].ChangeVector!;
        clock.Now = clock.Now.AddDays(2);
        if (how == "expiration")
            Assert.Equal(1, await database.Lifecycle.RunAsync(Cancel));
        else
            await database.WriteAsync(
                how == "delete" ? new WriteBatch().Delete("D/1") : new WriteBatch().DeleteByPrefix("d/"), Cancel);
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Equal(0, snapshot.AtomicGuardIndex("d/1"));
        Assert.Equal(0, database.GetStatistics().CompareExchangeCount);
        // who has read the first one is refused, and who begins anew is not
        await Assert.ThrowsAsync<ClusterTransactionConcurrencyException>(
            () => database.WriteAsync(ClusterWide().Put("d/1", "{}"u8, null, first), Cancel));
        using (DocumentSession session = database.OpenSession(options => options with { IsClusterWide = true }))
        {
            Assert.Null(session.Load<Dictionary<string, int>>("d/1"));
            session.Store(new Dictionary<string, int> { ["n"] = 1 }, "d/1");
            await session.SaveChangesAsync(Cancel);
        }

        KindInvariants.Check(database);
    }

    [Fact]
    public async Task A_guard_without_a_document_guards_nothing()
    {
        await using Database database = Database.Open(_directory.Path);
        await database.WriteAsync(new WriteBatch().PutCompareExchange("rvn-atomic/d/1", "{\"Object\":{}}"u8, 0), Cancel);
        await database.WriteAsync(ClusterWide().Put("d/1", "{}"u8.ToArray()), Cancel);
        await Assert.ThrowsAsync<ClusterTransactionConcurrencyException>(
            () => database.WriteAsync(ClusterWide().Put("d/1", "{}"u8.ToArray()), Cancel));
    }

    [Fact]
    public async Task Values_keep_their_metadata_and_are_found_without_case()
    {
        await using Database database = Database.Open(_directory.Path);
        await database.WriteAsync(
            new WriteBatch().PutCompareExchange(
                "Straße/Ä", " { \"Object\" : { \"a\" : [ 1.50 ] } , \"@metadata\" : { \"own\" : true } } "u8, 0),
            Cancel);
        using DatabaseSnapshot snapshot = database.BeginRead();
        CompareExchangeValue value = snapshot.CompareExchange("STRAßE/ä")!;
        var output = new System.Buffers.ArrayBufferWriter<byte>();
        value.WriteTo(output);
        Assert.Equal(
            ("Straße/Ä", """{"Object":{"a":[1.50]},"@metadata":{"own":true}}"""),
            (value.Key, Encoding.UTF8.GetString(output.WrittenSpan)));
        Assert.Null(snapshot.CompareExchange(""));
        Assert.Null(snapshot.CompareExchange(new string('x', 2000)));
    }

    [Theory]
    [InlineData("", "{\"Object\":1}", "empty")]
    [InlineData("k", "{}", "'Object'")]
    [InlineData("k", "[1]", "k")]
    [InlineData("k", "{\"Object\":", "k")]
    public void What_is_no_value_is_refused(string key, string json, string word)
    {
        using var batch = new WriteBatch();
        Assert.Contains(
            word,
            Assert.Throws<InvalidDocumentException>(() => batch.PutCompareExchange(key, Encoding.UTF8.GetBytes(json), 0)).Message,
            StringComparison.Ordinal);
        Assert.Equal(0, batch.Count);
    }

    private static WriteBatch ClusterWide() => new() { IsClusterWide = true };

    private static async Task IncreaseAsync(Database database, int wins)
    {
        while (wins > 0)
        {
            long index = 0, value = 0;
            using (DatabaseSnapshot snapshot = database.BeginRead())
                if (snapshot.CompareExchange("n") is { } found)
                    (index, value) = (
                        found.Index,
                        long.Parse(
                            Encoding.UTF8.GetString(found.Body.Span)[10..^1], System.Globalization.CultureInfo.InvariantCulture));
            IReadOnlyList<WriteResult> results = await database.WriteAsync(
                new WriteBatch().PutCompareExchange("n", Encoding.UTF8.GetBytes($"{{\"Object\":{value + 1}}}"), index), Cancel);
            if (((CompareExchangeResult)results[0].Beside!).IsSuccessful)
                wins--;
        }
    }
}
