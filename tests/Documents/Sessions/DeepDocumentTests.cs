using Treepie.Documents.Tests.Queries;
using Treepie.Sessions;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>Documents and values of more than 64 levels, the default limit of JSON readers; the database allows 128.</summary>
public sealed class DeepDocumentTests : IDisposable
{
    private const int Levels = 100;

    private readonly Database _database = Database.OpenInMemory();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _database.Dispose();

    [Fact]
    public async Task Changes_of_a_deep_document_are_listed()
    {
        using DocumentSession session = _database.OpenSession();
        Box box = Deep();
        session.Store(box);
        await session.SaveChangesAsync(Token);
        box.Name = "b";
        box.Child!.Name = "c";
        Assert.Equal(
            ["Child.Name", "Name"], session.Advanced.WhatChanged()["boxes/1"].Select(change => change.Path).Order());
        await session.SaveChangesAsync(Token);
        Assert.Empty(session.Advanced.WhatChanged());
    }

    [Fact]
    public async Task A_deep_compare_exchange_value_is_read()
    {
        using (DocumentSession session = _database.OpenSession(options => options with { IsClusterWide = true }))
        {
            session.Advanced.ClusterTransaction.Create("k", Deep());
            await session.SaveChangesAsync(Token);
        }

        using DocumentSession other = _database.OpenSession(options => options with { IsClusterWide = true });
        Assert.Equal(Levels, LevelsOf(other.Advanced.ClusterTransaction.Get<Box>("k")?.Value));
    }

    [Fact]
    public async Task A_deep_member_is_projected()
    {
        using DocumentSession session = _database.OpenSession();
        session.Store(Deep());
        await session.SaveChangesAsync(Token);
        var row = Assert.Single(
            await session.Query<Box>().Where(box => box.Name == "a").WaitForNonStaleResults()
                .Select(box => new { box.Name, box.Child }).ToListAsync(Token));
        Assert.Equal(Levels - 1, LevelsOf(row.Child));
    }

    [Fact]
    public async Task A_query_for_a_member_that_deep_documents_lack_is_answered()
    {
        using DocumentSession session = _database.OpenSession();
        session.Store(Deep());
        await session.SaveChangesAsync(Token);
        Assert.Empty((await _database.AskAsync("from Boxes where Nome = 'a'")).Rows);
    }

    private static Box Deep()
    {
        var box = new Box { Name = "a" };
        for (int i = 1; i < Levels; i++)
            box = new Box { Name = "a", Child = box };
        box.Id = "boxes/1";
        return box;
    }

    private static int LevelsOf(Box? box)
    {
        int levels = 0;
        for (; box is not null; box = box.Child)
            levels++;
        return levels;
    }

    private sealed class Box
    {
        public string? Id { get; set; }

        public Box? Child { get; set; }

        public string? Name { get; set; }
    }
}
