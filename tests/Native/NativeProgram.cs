using System.Diagnostics.CodeAnalysis;
using Treepie.Linq;
using Treepie.Sessions;
using static Treepie.NativeProgram.Check;

namespace Treepie.NativeProgram;

/// <summary>
/// Uses every part of the API once, and ends with 0 if all of it gave what it should. No reflection: published as native code, it
/// must need none.
/// </summary>
internal static class NativeProgram
{
    private static readonly SessionOptions _options = new() { Json = NativeContext.Default.Options };

    public static async Task<int> Main()
    {
        try
        {
            await using Database database = Database.OpenInMemory();
            await StoreAsync(database);
            await AskAsync(database);
            await ProjectAsync(database);
            await ProjectToAnonymousAsync(database);
            await QueryChecks.RunAsync(database, _options);
            await BesideChecks.RunAsync(database, _options);
            await ChangeAsync(database);
            await DatabaseChecks.RunAsync(_options);
            StoreChecks.Run();
            await Console.Out.WriteLineAsync("everything is as it should be");
            return 0;
        }
        catch (Exception error)
        {
            await Console.Error.WriteLineAsync(error.ToString());
            return 1;
        }
    }

    private static async Task StoreAsync(Database database)
    {
        using DocumentSession session = database.OpenSession(_options);
        var owner = new Owner { Name = "Ada" };
        session.Store(owner);
        for (int i = 0; i < 20; i++)
        {
            session.Store(new Item
            {
                Id = $"items/{i}",
                Name = i % 2 == 0 ? "red lamp" : "blue lamp",
                Amount = i,
                Weight = i % 3 == 0 ? null : i,
                State = (ItemState)(i % 3),
                MadeAt = new DateTime(2024, 1, 1).AddDays(i * 30),
                Tags = [$"t{i % 4}"],
                Parts = [new Part("a", i), new Part("b", 2 * i)],
                OwnerId = "owners/1",
            });
        }

        session.Advanced.CountersFor("items/1").Increment("views", 2);
        session.Advanced.Attachments.Store("items/1", "note", new MemoryStream([1, 2, 3]));
        await session.SaveChangesAsync();
        Require(owner.Id == 1 && session.Load<Owner>(1) == owner, "ids");
        IDocumentStore store = database;
        store.Deploy(_options, []);
        await using ObjectInsert insert = store.BulkInsert(_options);
        await insert.StoreAsync(new Item { Id = "items/bulk", Name = "bulk", Amount = -1 });
    }

    private static async Task AskAsync(Database database)
    {
        using DocumentSession session = database.OpenSession(_options);
        IDocumentQueryable<Item> items = session.Query<Item>();
        int least = 10;
        string[] names = ["red lamp", "bulk"];
        Require(await items.Where(i => i.Amount >= least).CountAsync() == 10, "numbers");
        Require(await items.Where(i => names.Contains(i.Name)).CountAsync() == 11, "lists");
        Require(await items.Where(i => i.State > ItemState.Open && i.Weight != null).CountAsync() == 13, "enumerations and null");
        Require(await items.Where(i => i.Tags.Contains("t1") || i.Name.StartsWith("bul")).CountAsync() == 6, "arrays and texts");
        Require(await items.Where(i => i.Parts.Any(p => p.Amount > 30 && p.Amount <= 34)).CountAsync() == 2, "elements");
        Require(await items.Where(i => i.MadeAt.Year == 2024 && i.Parts.Count == 2).CountAsync() == 13, "times and lengths");
        Require((await items.Search(i => i.Name, "red").OrderByDescending(i => i.Amount).FirstAsync()).Id == "items/18", "words");
        Require((await session.RawQuery<Item>($"from Items where Amount = {least}").ToListAsync()).Count == 1, "texts of RQL");
        Require((await items.AggregateBy(i => i.Name).SumOn(i => i.Amount).ExecuteAsync())["Name"].Values.Count == 3, "facets");
        Item first = await items.Include(i => i.OwnerId).OrderBy(i => i.Amount).Skip(1).FirstAsync();
        Require(first.Id == "items/0" && session.Load<Owner>(first.OwnerId!)?.Name == "Ada", "includes"); // stored with one
        Require(session.Query<Item>().Where(i => i.Amount < 3).ToList().Count == 4, "without waiting");
        int streamed = 0;
        await foreach (StreamResult<Item> result in session.Advanced.StreamAsync(items))
            streamed += result.Id.Length > 0 ? 1 : 0;
        Require(streamed == 21, "streams");
    }

    /// <summary>The compiler warns of every anonymous object in an expression; records have no such warning.</summary>
    [UnconditionalSuppressMessage(
        "Trimming", "IL2026",
        Justification = "The query reads no property of the anonymous object: it calls the constructor, which the expression "
            + "names.")]
    private static async Task ProjectToAnonymousAsync(Database database)
    {
        using DocumentSession session = database.OpenSession(_options);
        IDocumentQueryable<Item> items = session.Query<Item>().Where(i => i.Amount == 7);
        var row = await items.Select(i => new { i.Id, i.Name, Twice = i.Amount * 2, State = i.State.ToString(), i.Weight })
            .SingleAsync();
        Require(row is { Id: "items/7", Name: "blue lamp", Twice: 14, State: "Sold", Weight: 7 }, "anonymous rows");
    }

    private static async Task ProjectAsync(Database database)
    {
        using DocumentSession session = database.OpenSession(_options);
        IDocumentQueryable<Item> items = session.Query<Item>().Where(i => i.Amount == 7);
        Require(
            await items.Select(i => new ItemRow(i.Name, i.Amount + i.Amount)).SingleAsync() == new ItemRow("blue lamp", 14),
            "records");
        Require(await items.Select(i => i.Name + "!").SingleAsync() == "blue lamp!", "computed values");
        Require((await session.Query<Item>().Select(i => i.Name).Distinct().ToListAsync()).Count == 3, "distinct");
    }

    private static async Task ChangeAsync(Database database)
    {
        using (DocumentSession session = database.OpenSession(_options))
        {
            Item item = session.Load<Item>("items/1") ?? throw new InvalidOperationException("not there");
            item.Name = "green";
            Require(session.Advanced.WhatChanged()["items/1"].Single().Path == "Name", "changes");
            session.Delete("items/2");
            await session.SaveChangesAsync();
            Require(session.Advanced.CountersFor("items/1").Get("views") == 2, "counters");
            using var content = new MemoryStream();
            Require(
                await session.Advanced.Attachments.CopyToAsync("items/1", "note", content) && content.Length == 3, "attachments");
        }

        Require(await database.DeleteByQueryAsync<Item>(i => i.Amount > 5, _options) == 14, "deletions by query");
        using DocumentSession other = database.OpenSession(_options);
        Require(other.Load<Item>("items/2") is null && other.Load<Item>("items/1")?.Name == "green", "saves");
    }
}
