using Treepie.Queries;

namespace Treepie.Documents.Tests.Queries;

/// <summary>A condition means the same after <c>filter</c>, where each document is looked at, as after <c>where</c>.</summary>
public sealed class FilterMeaningTests : IAsyncLifetime
{
    private static readonly string[] _documents =
    [
        """{"Name":"a","Lines":[{"Product":"x"},{"Product":"y"}],"Address":{"City":"Reims"},"Tags":["t",null]}""",
        """{"Name":"ſtrasse","Lines":[],"Address":{},"Tags":[]}""",
        """{"Name":"\u212Aelvin","Lines":[{},{"Product":"x"}],"Address":null,"Tags":null}""",
        """{"Name":"Ａ","Lines":[{"Product":null}],"Tags":[[],["t"]],"Age":5.0}""",
        """{"Name":"😀","Lines":{"Product":"X"},"Address":[{"City":"reims"}],"Age":-0.0}""",
        """{"Name":["b",["c"]],"Deep":[[{"A":[1,[2]]}]],"Age":"5","Address.City":"Reims"}""",
        "{}",
    ];

    private readonly Database _database = Database.OpenInMemory();

    public async ValueTask InitializeAsync()
    {
        for (int i = 0; i < _documents.Length; i++)
            await _database.PutAsync($"docs/{i}", _documents[i], "Docs");
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Theory]
    [InlineData("Lines.Product = 'x'", "0 2 4")]
    [InlineData("Lines.Product = null", "1 3 5 6")]
    [InlineData("Lines.Product != 'x'", "1 3 5 6")]
    [InlineData("Lines[].Product = null", "1 3 5 6")]
    [InlineData("Lines[].Product != null", "0 2 4")]
    [InlineData("Lines[0].Product = 'x'", "0")]
    [InlineData("exists(Lines.Product)", "0 2 3 4")]
    [InlineData("Tags = null", "0 1 2 3 4 5 6")]
    [InlineData("Tags = 't'", "0 3")]
    [InlineData("exists(Tags)", "0 1 2 3")]
    [InlineData("Tags[1] = null", "0 1 2 4 5 6")]
    [InlineData("Deep.A = 2", "5")]
    [InlineData("Deep[0].A[1] = 2", "5")]
    [InlineData("'Address.City' = 'Reims'", "0 4")]
    [InlineData("Address.'City' = 'Reims'", "0 4")]
    [InlineData("exists('Address.City')", "0 4")]
    [InlineData("startsWith('Address.City', 're')", "0 4")]
    [InlineData("endsWith('Address.City', 'MS') and regex('Address.City', '^r')", "0 4")]
    [InlineData("Name = 'strasse'", "1")]
    [InlineData("startsWith(Name, 'k')", "2")]
    [InlineData("Name < '😀' and Name > 'z'", "3")]
    [InlineData("Name >= 'Ａ'", "3 4")]
    [InlineData("Name = 'c'", "5")]
    [InlineData("Age = 0", "4")]
    [InlineData("Age = '5'", "3 5")]
    [InlineData("@metadata.@id = 'DOCS/3'", "3")]
    [InlineData("@metadata.@collection = 'docs'", "0 1 2 3 4 5 6")]
    public async Task A_condition_means_the_same_as_after_where(string condition, string expected)
    {
        string[] ids = [.. expected.Split(' ').Select(number => $"docs/{number}")];
        Assert.Equal(ids, (await _database.AskAsync($"from Docs where {condition}")).Ids.Order());
        Assert.Equal(ids, (await _database.AskAsync($"from Docs filter {condition}")).Ids.Order());
    }

    [Theory]
    [InlineData("any(Lines as l, l.Product = 'x')", "0 2 4")]
    [InlineData("any(Deep.A as a, a = 1)", "5")]
    [InlineData("any(Tags as t, t = 't')", "0 3")]
    public async Task One_element_meets_a_condition_at_paths_across_arrays_too(string condition, string expected) =>
        Assert.Equal(
            expected.Split(' ').Select(number => $"docs/{number}"),
            (await _database.AskAsync($"from Docs filter {condition}")).Ids.Order());

    [Theory]
    [InlineData("from Docs where Age < 1e400", 23)]
    [InlineData("from Docs filter Age < 1e400", 24)]
    public async Task A_number_beyond_all_others_is_refused_where_it_stands(string query, int column)
    {
        InvalidQueryException error =
            await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(query));
        Assert.StartsWith("This number is too large.", error.Message, StringComparison.Ordinal);
        Assert.Equal((1, column), (error.Line, error.Column));
    }

    [Fact]
    public async Task Rows_that_have_equal_values_come_once_however_they_are_spelled()
    {
        string[] spelled =
        [
            """{"City":"Caf\u00e9","N":5.0,"O":{"a":[1e1,"\/"]}}""", """{"City":"Café","N":5,"O":{"a":[10,"/"]}}""",
            """{"City":"Café","N":50e-1,"O":{"a":[10.0,"/"]}}""", """{"City":"café","N":-0,"O":{"a":[10]}}""",
            """{"City":"café","N":0.00,"O":{"a":[10]}}""", """{"City":"café","N":0.5,"O":null}""",
            """{"City":"café","N":0.50,"O":null}""",
        ];
        for (int i = 0; i < spelled.Length; i++)
        {
            byte[] body = System.Text.Encoding.UTF8.GetBytes(
                $"{spelled[i][..^1]},\"@metadata\":{{\"@collection\":\"Cities\"}}}}");
            await _database.WriteAsync(
                new Treepie.Writes.WriteBatch().Put($"cities/{i}", body), TestContext.Current.CancellationToken);
        }

        foreach ((string select, int rows) in ((string, int)[])
            [("City", 2), ("N", 3), ("City, N", 3), ("O", 3), ("City, N, O", 3)])
        {
            Answer answer = await _database.AskAsync($"from Cities select distinct {select}");
            Assert.Equal((select, rows, spelled.Length - rows), (select, answer.Rows.Count, (int)answer.Skipped));
            Assert.Equal(rows, (await _database.AskAsync($"from Cities order by N select distinct {select}")).Rows.Count);
        }
    }

    [Fact]
    public async Task Distinct_rows_are_looked_for_in_portions_until_the_page_is_full()
    {
        var batch = new Treepie.Writes.WriteBatch();
        for (int i = 0; i < 5_000; i++)
        {
            char kind = i < 4_000 ? 'a' : i < 4_900 ? 'b' : 'c';
            batch.Put(
                $"rows/{i}",
                System.Text.Encoding.UTF8.GetBytes(
                    $$"""{"N":{{i}},"Kind":"{{kind}}","@metadata":{"@collection":"Rows"} }"""));
        }

        await _database.WriteAsync(batch, TestContext.Current.CancellationToken);
        foreach (string order in (string[])["", " order by N as long", " order by Kind", " order by N as long desc"])
        {
            foreach ((string page, int rows) in ((string, int)[])[("", 3), (" limit 2", 2), (" limit 10", 3), (" limit 0", 0)])
            {
                Answer answer = await _database.AskAsync($"from Rows where N >= 0{order} select distinct Kind{page}");
                Assert.Equal((order, page, rows, 5_000L), (order, page, answer.Rows.Count, answer.Total));
            }
        }

        using QueryResults results = await _database.QueryAsync(
            new QueryRequest
            {
                Text = "from Rows where N >= 0 order by N as long select distinct N limit 10",
                WithPlan = true,
                CountsResults = false
            },
            TestContext.Current.CancellationToken);
        Assert.InRange(results.Plan!.Children[0].RowsOut, 10, 1_100); // the plan was asked for; the search is below 'distinct'
    }
}
