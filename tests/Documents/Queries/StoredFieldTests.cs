using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Values that an index keeps: the same answers as from documents, without reading them.</summary>
public sealed class StoredFieldTests : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public StoredFieldTests() => _database = Database.Open(_folder.Path);

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task What_is_stored_is_selected_as_it_stands_in_the_document()
    {
        await PutAsync();
        foreach (bool stored in (bool[])[false, true])
        {
            Define(stored);
            await WaitAsync();
            Answer answer = await _database.AskAsync(
                "from index Orders order by Id select City, Products, Text as T, Id, id() as Own, 7 as n, Nothing, 'Exact'");
            Assert.Equal(
                [
                    """{"City":{"Name":"Reims ","Zip":[51,100.50]},"Products":["a","é\"b"],"T":"A red fox","Id":"Orders/1","Own":"Orders/1","n":7,"Nothing":null,"Exact":null}""",
                    """{"City":null,"Products":[],"T":null,"Id":"Orders/2","Own":"Orders/2","n":7,"Nothing":null,"Exact":1e2}""",
                ],
                answer.Bodies);
            Assert.Equal(["Orders/1", "Orders/2"], answer.Ids);
        }
    }

    [Fact]
    public async Task Documents_are_not_read_for_what_is_stored()
    {
        await PutAsync();
        Define(stored: true);
        await WaitAsync();
        _database.Indexes.Control.Set("Orders", settings => settings with { IsDisabled = true });
        await _database.PutAsync("Orders/1", """{"ShipTo":{"City":"Paris"},"Text":"changed","Whole":1}""", "Orders");

        // What the index has seen is told where it alone is asked; one value that it does not keep makes the document speak for
        // all.
        Assert.Equal("\"A red fox\"", await OneAsync("select Text"));
        Assert.Equal("\"changed\"", await OneAsync("select Text, Whole"));
        Assert.Equal("\"changed\"", await OneAsync("select Text", ProjectionBehavior.FromDocument));
        Assert.Equal("\"A red fox\"", await OneAsync("select Text, Whole", ProjectionBehavior.FromIndex));
        Assert.Equal("null", await OneAsync("select Whole", ProjectionBehavior.FromIndex));
        Assert.Equal("9", await OneAsync("select length(Text) as L"));
        Assert.Equal("7", await OneAsync("select length(Text) as L, length(Whole) as W"));
        Assert.Equal("7", await OneAsync("select length(Text) as L, count(Text) as N"));
        Assert.Contains(
            "'Whole'", (await RefusedAsync("select Whole", ProjectionBehavior.FromIndexOrThrow)).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "Orders/1", (await RefusedAsync("select Products", ProjectionBehavior.FromDocumentOrThrow)).Message,
            StringComparison.Ordinal);
        foreach (string selected in (string[])["Products as P", "length(Products) as P"])
            Assert.Contains(
                "has no 'Products'", (await RefusedAsync("select " + selected, ProjectionBehavior.FromDocumentOrThrow)).Message,
                StringComparison.Ordinal);

        // An answer that is never stale has the changes too.
        Answer fresh = await _database.AskAsync(
            "from index Orders where Id = 'orders/1' select Text include neverStale()", change: NoWait);
        Assert.Equal("""{"Text":"changed"}""", Assert.Single(fresh.Bodies));
    }

    [Fact]
    public async Task Distinct_rows_and_pages_come_from_what_is_stored_through_updates_and_deletes()
    {
        Define(stored: true);
        for (int i = 0; i < 60; i++)
            await _database.PutAsync($"Orders/{i}", $$"""{"Text":"text {{i % 7}}"}""", "Orders");
        await WaitAsync();
        for (int i = 0; i < 60; i += 3)
            await _database.PutAsync($"Orders/{i}", """{"Text":"again"}""", "Orders");
        for (int i = 1; i < 60; i += 3)
            await _database.DeleteAsync($"Orders/{i}");
        Answer answer = await _database.AskAsync("from index Orders order by Id select distinct Text");
        // all have one
        Assert.Equal(
            ["again", .. Enumerable.Range(0, 7).Select(i => $"text {i}")],
            answer.Rows.Select(row => row["Text"]!.GetValue<string>()).Order(StringComparer.Ordinal));
        Assert.Equal(40, answer.Total);
        Answer page = await _database.AskAsync("from index Orders where Text = 'again' order by Id select Id limit 18, 5");
        Assert.Equal(20, page.Total);
        Assert.Equal(2, page.Rows.Count);
    }

    private static QueryRequest NoWait(QueryRequest request) => request with { WaitForNonStaleResults = false };

    private async Task PutAsync()
    {
        await _database.PutAsync(
            "Orders/1",
            """{"ShipTo":{"City":{"Name":"Reims ","Zip":[51,100.50]}},"Lines":[{"P":"a"},{"P":"é\"b"},{}],"Text":"A red fox"}""",
            "Orders");
        await _database.PutAsync("Orders/2", """{"Lines":[],"Text":null,"Exact":1e2}""", "Orders");
    }

    private void Define(bool stored) => _database.Indexes.Put(new IndexDefinition
    {
        Name = "Orders",
        Collections = ["Orders"],
        Fields =
        [
            new() { Name = "City", Path = "ShipTo.City", Stored = stored },
            new() { Name = "Products", Path = "Lines[].P", Stored = stored },
            new() { Name = "Text", Indexing = FieldIndexing.Search, Stored = stored },
            new() { Name = "Id", Path = "id()", Stored = stored },
            new() { Name = "Nothing", Stored = stored },
            new() { Name = "Exact", Indexing = FieldIndexing.Exact, Stored = stored },
        ],
    });

    private async Task WaitAsync()
    {
        while (_database.Indexes.List()
            .Any(index => index.Name.StartsWith(IndexCatalogue.ReplacementPrefix, StringComparison.Ordinal)))
            await Task.Yield();
        Assert.True(
            await _database.Indexes.WaitForNonStaleAsync(
                TimeSpan.FromMinutes(1), cancellationToken: TestContext.Current.CancellationToken));
    }

    private async Task<string> OneAsync(string select, ProjectionBehavior behavior = ProjectionBehavior.Default)
    {
        Answer answer = await _database.AskAsync(
            $"from index Orders where Id = 'orders/1' {select}",
            change: request => NoWait(request) with { ProjectionBehavior = behavior });
        return Assert.Single(answer.Rows).First().Value?.ToJsonString() ?? "null";
    }

    private Task<InvalidQueryException> RefusedAsync(string select, ProjectionBehavior behavior) =>
        Assert.ThrowsAsync<InvalidQueryException>(() => OneAsync(select, behavior));
}
