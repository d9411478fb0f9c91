using System.Text;
using Treepie.Documents.Tests.Backups;
using Treepie.Documents.Tests.Kinds;
using Treepie.Queries;
using Treepie.Storage;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests;

/// <summary>Room that deleted documents had goes back to the disk, and nothing else changes.</summary>
public sealed class CompactionTests : IDisposable
{
    private const int Batches = 30, InBatch = 100, TextLength = 8_000;

    private readonly TemporaryDirectory _directory = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Documents_and_indexes_become_shorter_and_hold_what_they_held(bool isEncrypted)
    {
        using EncryptionKey? key = isEncrypted ? EncryptionKey.Generate() : null;
        var options = new DatabaseOptions { EncryptionKey = key };
        List<string> before;
        await using (Database database = Database.Open(_directory.Path, options))
        {
            await FillAsync(database);
            before = DatabaseText.Of(database);
            var watcher = new Watcher();
            CompactionReport report = database.Compact(null, watcher, Cancel);
            Assert.True(report.Documents!.BytesAfter < report.Documents.BytesBefore / 2, $"{report.Documents}"); // asked for
            Assert.Equal(["Auto/Things/BySearch(T)AndN"], report.Indexes.Keys);
            Assert.True(report.BytesAfter < report.BytesBefore / 2, $"{report}");
            Assert.Equal(["documents", "Auto/Things/BySearch(T)AndN"], watcher.Stores);
            Assert.True(watcher.MovedPages > 0 && watcher.IsAscending, "progress goes on");
            Assert.Equal(before, DatabaseText.Of(database));
            KindInvariants.Check(database);
            using QueryResults results = await database.QueryAsync(
                new QueryRequest { Text = "from Things where search(T, 'word') and N < 1000", WaitForNonStaleResults = true }, Cancel);
            Assert.Equal(InBatch, results.TotalResults);
        }

        await using Database again = Database.Open(_directory.Path, options);
        Assert.Equal(before, DatabaseText.Of(again));
        Assert.Empty(again.Check(Cancel).Problems);
    }

    [Fact]
    public async Task What_is_not_asked_for_stays_and_what_is_not_there_is_refused()
    {
        await using Database database = Database.Open(_directory.Path);
        await FillAsync(database);
        IndexNotFoundException error = Assert.Throws<IndexNotFoundException>(
            () => database.Compact(new CompactionOptions { Indexes = ["none"] }, null, Cancel));
        Assert.Contains("none", error.Message, StringComparison.Ordinal);
        CompactionReport index = database.Compact(
            new CompactionOptions { Documents = false, Indexes = ["auto/things/bysearch(t)andn"] }, null, Cancel);
        Assert.Null(index.Documents);
        Assert.Single(index.Indexes);
        CompactionReport documents = database.Compact(new CompactionOptions { Indexes = [] }, null, Cancel);
        Assert.Empty(documents.Indexes);
        Assert.True(documents.BytesAfter < documents.BytesBefore / 2, $"{documents}");
    }

    [Fact]
    public async Task A_compaction_ends_where_it_is_told_to_and_there_is_one_at_a_time()
    {
        await using Database database = Database.Open(_directory.Path);
        await FillAsync(database);
        List<string> before = DatabaseText.Of(database);
        using var stop = new CancellationTokenSource();
        var watcher = new Watcher
        {
            OnStep = _ =>
            {
                Exception? other = null;
                var thread = new Thread(() => other = Record.Exception(() => database.Compact(null, null, CancellationToken.None)));
                thread.Start();
                thread.Join();
                Assert.IsType<ConcurrencyException>(other);
                Assert.Throws<ConcurrencyException>(() => database.Compact(null, null, CancellationToken.None)); // this thread too
                stop.Cancel();
            },
        };
        Assert.ThrowsAny<OperationCanceledException>(() => database.Compact(null, watcher, stop.Token));
        Assert.Equal(before, DatabaseText.Of(database));
        Assert.Empty(database.Check(Cancel).Problems);
        CompactionReport report = database.Compact(null, null, Cancel);
        Assert.True(report.BytesAfter < report.BytesBefore, $"{report}");
    }

    private static async Task FillAsync(Database database)
    {
        for (int batch = 0; batch < Batches; batch++)
        {
            using var writes = new WriteBatch();
            for (int i = 0; i < InBatch; i++)
                writes.Put(
                    $"things/{batch}/{i}",
                    Encoding.UTF8.GetBytes(
                        $"{{\"N\":{i},\"T\":\"word {new string((char)('a' + (i % 26)), TextLength)}{batch}\","
                            + "\"@metadata\":{\"@collection\":\"Things\"}}"));
            await database.WriteAsync(writes, Cancel);
        }

        (await database.QueryAsync(
            new QueryRequest { Text = "from Things where search(T, 'word') and N < 1000", WaitForNonStaleResults = true },
            Cancel)).Dispose();
        for (int batch = 0; batch < Batches - 1; batch++)
        {
            using var writes = new WriteBatch();
            await database.WriteAsync(writes.DeleteByPrefix($"things/{batch}/"), Cancel);
        }

        Assert.True(await database.Indexes.WaitForNonStaleAsync(Eventually.Patience, null, Cancel));
        await database.PurgeTombstonesAsync(database.LastEtag - 1, Cancel);
    }

    private sealed class Watcher : IProgress<CompactionProgress>
    {
        public List<string> Stores { get; } = [];

        public long MovedPages { get; private set; }

        public bool IsAscending { get; private set; } = true;

        public Action<CompactionProgress>? OnStep { get; set; }

        public void Report(CompactionProgress value)
        {
            if (!Stores.Contains(value.Store))
                Stores.Add(value.Store);
            IsAscending &= value.MovedPages >= MovedPages;
            MovedPages = value.MovedPages;
            Action<CompactionProgress>? step = OnStep;
            OnStep = null;
            step?.Invoke(value);
        }
    }
}
