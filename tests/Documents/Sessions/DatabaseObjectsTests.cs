using System.Text.Json.Nodes;
using Treepie.Kinds;
using Treepie.Sessions;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>Many objects at once, databases that go, and the interfaces that programs are written against.</summary>
public sealed class DatabaseObjectsTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Objects_are_inserted_as_sessions_would_write_them()
    {
        using Database database = Database.OpenInMemory();
        await using (ObjectInsert insert = database.BulkInsertObjects())
        {
            for (int i = 0; i < 5000; i++)
                await insert.StoreAsync(new Box { Size = i }, cancellationToken: Token);
            await Assert.ThrowsAsync<InvalidDocumentException>(async () => await insert.StoreAsync(new Box(), "boxes/", Token));
        }

        using DocumentSession session = database.OpenSession();
        Assert.Equal(5000, await session.Query<Box>().CountAsync(Token));
        Box box = await session.Query<Box>().Where(b => b.Size == 4711).SingleAsync(Token);
        Assert.StartsWith("boxes/", box.Id, StringComparison.Ordinal);
        Assert.Same(box, session.Load<Box>(box.Id!)); // it was found
    }

    [Fact]
    public async Task What_lies_beside_objects_is_inserted_with_them_in_order()
    {
        using Database database = Database.OpenInMemory();
        var day = new DateTime(2024, 5, 1, 0, 0, 0, DateTimeKind.Utc);
        await using (ObjectInsert insert = database.BulkInsertObjects(new BulkInsertOptions { MaxBatchDocuments = 3 }))
        {
            for (int i = 0; i < 10; i++)
            {
                string id = await insert.StoreAsync(
                    new Box { Size = i }, null, new JsonObject { ["@expires"] = "2099-01-01T00:00:00.0000000Z" }, Token);
                await insert.CountersAsync(id, [CounterOperation.Of(CounterOperationKind.Increment, "likes", i)], Token);
                await insert.TimeSeriesAsync(id, "heat", [new TimeSeriesPoint(day, [i], null)], Token);
                await insert.AttachmentAsync(id, "a.txt", new MemoryStream([1, 2, 3]), "text/plain", Token);
            }

            await insert.StoreAsync(new Box(), "crates/1", new JsonObject { ["@collection"] = "Crates" }, Token);
            await Assert.ThrowsAsync<InvalidDocumentException>(
                async () => await insert.StoreAsync(new Box(), "boxes/bad", new JsonObject { ["@expires"] = "never" }, Token));
        }

        using DocumentSession session = database.OpenSession();
        Box box = await session.Query<Box>().SingleAsync(b => b.Size == 7, Token);
        Assert.Equal("2099-01-01T00:00:00.0000000Z", session.GetMetadataFor(box)["@expires"]?.GetValue<string>());
        Assert.Equal("Boxes", session.GetMetadataFor(box)["@collection"]?.GetValue<string>());
        Assert.Equal(7, session.CountersFor(box).Get("likes"));
        Assert.Equal(7, Assert.Single(session.TimeSeriesFor(box, "heat").Get()).Values[0]);
        Assert.Equal(3, session.Advanced.Attachments.Find(box.Id!, "a.txt")?.SizeBytes); // it has been stored
        Assert.Equal(1, await session.RawQuery<Box>("from Crates").CountAsync(Token));
        Assert.False(session.Advanced.Exists("boxes/bad"));
    }

    [Fact]
    public async Task Documents_are_deleted_by_a_condition()
    {
        await using Database database = Database.OpenInMemory();
        await using (ObjectInsert insert = database.BulkInsertObjects())
        {
            for (int i = 0; i < 3000; i++)
                await insert.StoreAsync(new Box { Size = i }, cancellationToken: Token);
        }

        Assert.Equal(2500, await database.DeleteByQueryAsync<Box>(b => b.Size >= 500, Token));
        Assert.Equal(0, await database.DeleteByQueryAsync<Box>(b => b.Size >= 500, Token));
        await Assert.ThrowsAsync<NotSupportedException>(() => database.DeleteByQueryAsync<Box>(b => b.Size * 2 > 1, Token));
        using DocumentSession session = database.OpenSession();
        Assert.Equal(500, await session.Query<Box>().CountAsync(Token));
    }

    [Fact]
    public async Task A_store_gives_sessions_of_both_kinds()
    {
        using IDocumentStore store = Database.OpenInMemory();
        using (IDocumentSession session = store.OpenSession())
        {
            session.Store(new Box { Id = "boxes/1", Size = 1 });
            session.SaveChanges();
        }

        await using IAsyncDocumentSession other = store.OpenAsyncSession();
        Box? box = await other.LoadAsync<Box>("boxes/1", Token);
        await other.StoreAsync(new Box { Id = "boxes/2", Size = box!.Size + 1 }, cancellationToken: Token); // just stored
        await other.SaveChangesAsync(Token);
        Assert.Equal(2, (await other.LoadAsync<Box>(["boxes/1", "boxes/2"], Token)).Values.OfType<Box>().Count());
        Assert.Equal("boxes/2", (await other.Query<Box>().Where(b => b.Size == 2).SingleAsync(Token)).Id);
    }

    [Fact]
    public void A_database_in_memory_leaves_nothing_behind()
    {
        Database database = Database.OpenInMemory();
        string path = database.DataDirectory;
        Assert.True(Directory.Exists(path));
        database.Dispose();
        Assert.False(Directory.Exists(path));
    }

    private sealed class Box
    {
        public string? Id { get; set; }

        public int Size { get; set; }
    }
}
