using System.Text;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Writes;

public sealed class BulkInsertTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public BulkInsertTests() => _database = Database.Open(_directory.Path);

    public void Dispose()
    {
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Documents_are_stored_in_order_whatever_the_size_of_batches()
    {
        BulkInsertProgress progress;
        await using (BulkInsert bulk = _database.BulkInsert(new BulkInsertOptions { MaxBatchDocuments = 7 }))
        {
            for (int index = 0; index < 100; index++)
                await bulk.StoreAsync($"users/{index % 60}", Json($$"""{"n":{{index}}}"""), Token);
            progress = await bulk.CompleteAsync(Token);
        }

        Assert.Equal(new BulkInsertProgress(100, 15, "users/39"), progress);
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.Equal(60, snapshot.DocumentCount);
        for (int index = 40; index < 100; index++)
        {
            Assert.True(snapshot.TryGet($"users/{index % 60}", out Document document));
            Assert.Equal($$"""{"n":{{index}}}""", Encoding.UTF8.GetString(document.Body));
            Assert.Equal(index + 1, document.Etag);
        }
    }

    [Fact]
    public async Task A_batch_ends_when_it_is_large_enough()
    {
        await using BulkInsert bulk = _database.BulkInsert(new BulkInsertOptions { MaxBatchBytes = 1000 });
        for (int index = 0; index < 10; index++)
            await bulk.StoreAsync($"users/{index}", Json($$"""{"text":"{{new string('x', 600)}}"}"""), Token);

        Assert.Equal(5, (await bulk.CompleteAsync(Token)).Batches);
    }

    [Fact]
    public async Task A_document_that_is_not_valid_is_left_out_and_the_insert_goes_on()
    {
        await using BulkInsert bulk = _database.BulkInsert();
        await bulk.StoreAsync("users/1", Json("{}"), Token);
        await Assert.ThrowsAsync<InvalidDocumentException>(async () => await bulk.StoreAsync("users/2", Json("{"), Token));
        await bulk.StoreAsync("users/3", Json("{}"), Token);

        Assert.Equal(2, (await bulk.CompleteAsync(Token)).Documents);
    }

    [Fact]
    public async Task After_a_batch_that_could_not_be_committed_the_insert_is_over()
    {
        await _database.WriteAsync(new WriteBatch().Put("users/3", Json("""{"@metadata":{"@collection":"Other"}}""")), Token);
        await using BulkInsert bulk = _database.BulkInsert(new BulkInsertOptions { MaxBatchDocuments = 2 });
        await bulk.StoreAsync("users/1", Json("{}"), Token);
        await bulk.StoreAsync("users/2", Json("{}"), Token);
        await bulk.StoreAsync("users/3", Json("{}"), Token);
        await bulk.StoreAsync("users/4", Json("{}"), Token);

        await Assert.ThrowsAsync<InvalidDocumentException>(() => bulk.FlushAsync(Token));
        await Assert.ThrowsAsync<InvalidDocumentException>(() => bulk.CompleteAsync(Token));

        Assert.Equal(2, bulk.Progress.Documents);
        Assert.Equal(3, _database.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task Disposing_completes_and_aborting_drops_the_rest()
    {
        await using (BulkInsert bulk = _database.BulkInsert())
            await bulk.StoreAsync("users/1", Json("{}"), Token);
        Assert.Equal(1, _database.GetStatistics().DocumentCount);

        BulkInsert aborted = _database.BulkInsert();
        await aborted.StoreAsync("users/2", Json("{}"), Token);
        await aborted.AbortAsync();
        await aborted.DisposeAsync();
        Assert.Equal(1, _database.GetStatistics().DocumentCount);
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await aborted.StoreAsync("users/3", Json("{}"), Token));
    }

    [Fact]
    public async Task An_import_that_runs_again_writes_only_what_changed()
    {
        for (int run = 0; run < 2; run++)
        {
            await using BulkInsert bulk = _database.BulkInsert(new BulkInsertOptions { SkipUnchanged = true });
            for (int index = 0; index < 10; index++)
                await bulk.StoreAsync($"users/{index}", Json($$"""{"n":{{(index == 3 ? run : 0)}}}"""), Token);
        }

        Assert.Equal(11, _database.LastEtag);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private static ReadOnlyMemory<byte> Json(string json) => Encoding.UTF8.GetBytes(json);
}
