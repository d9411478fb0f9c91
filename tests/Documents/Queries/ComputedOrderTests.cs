using System.Globalization;
using System.Text;
using System.Text.Json.Nodes;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Computed values as fields of indexes that queries make: orders, conditions and facets of them.</summary>
public sealed class ComputedOrderTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _files = new();
    private readonly Database _database = Database.OpenInMemory();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        string[] bodies =
        [
            """{"Name":"Ada","At":"1997-05-01T23:30:15.25","Lines":[{"P":"x","In":[1]},{"P":"y","In":[2,3]}]}""",
            """{"Name":"Bo","At":"2024-02-29T01:00:00+02:00","Lines":[[1,2],null,[]]}""",
            """{"Name":"Constantine","At":"1997-12-31","Lines":[]}""",
            """{"Name":null,"At":null,"Lines":"one"}""",
            """{"Name":"","At":"soon"}""",
            """{"Name":17,"At":5,"Lines":{"a":1}}""",
        ];
        for (int i = 0; i < bodies.Length; i++)
            await _database.PutAsync($"d/{i + 1}", bodies[i], "Docs");
    }

    public async ValueTask DisposeAsync()
    {
        await _database.DisposeAsync();
        _files.Dispose();
    }

    [Theory]
    [InlineData("where exists(Name) and Name != 17 order by length(Name)", "4,5,2,1,3")] // as numbers, null first
    [InlineData("where length(Name) > 0 order by length(Name) desc", "3,1,2")]
    [InlineData("where length(Name) > 0 order by length(Name) as string", "3,2,1")] // "11" before "2"
    [InlineData("where year(At) > 0 order by year(At) desc, month(At)", "2,1,3")]
    [InlineData("where year(At) > 0 order by hour(At)", "3,2,1")]
    [InlineData("where year(At) > 0 order by date(At) desc", "2,3,1")]
    [InlineData("order by date(At) desc, id()", "2,3,1,4,5,6")] // what is no time is null
    [InlineData("order by utc(At), id()", "4,5,6,1,3,2")]
    [InlineData("where date(At) = null or length(Name) = null order by id()", "4,5,6")]
    [InlineData("order by count(Lines), id() as alphaNumeric", "3,5,4,6,1,2")]
    [InlineData("order by count('Lines') desc, id() as alphaNumeric", "2,1,4,6,3,5")]
    [InlineData("order by count(Lines[].In) desc, id() as alphaNumeric limit 2", "1,2")]
    [InlineData("where id() != 'd/5' and id() != 'd/6' order by year(At) nulls last, id() desc", "3,1,2,4")]
    [InlineData("where count(Lines) = 2 or year(At) = 2024 order by id()", "1,2")]
    [InlineData("where true and not count(Lines) > 0 order by id()", "3,5")]
    [InlineData("where exact(length(Name) = 3) or exact(date(At) = '1997-12-31') order by id()", "1,3")]
    [InlineData("where length(Name) = 0 order by id() filter count(Lines) = 0", "5")]
    public async Task Documents_come_in_the_order_of_what_is_computed_of_them(string query, string expected)
    {
        Answer answer = await _database.AskAsync("from Docs " + query);
        Assert.Equal(expected, string.Join(',', answer.Ids.Select(static id => id[2..])));
        Assert.StartsWith("Auto/Docs/By", answer.Index, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Such_orders_page_group_count_and_change()
    {
        Answer answer = await _database.AskAsync("from Docs order by count(Lines) desc, id() limit 2, 2");
        Assert.Equal(["d/4", "d/6"], answer.Ids);
        Assert.Equal(6, answer.Total);

        answer = await _database.AskAsync(
            "from Docs group by At where year(At) > 1900 order by year(At) desc, month(At) select At, year(At) as Y");
        Assert.Equal([2024, 1997, 1997], answer.Rows.Select(static row => (int)row["Y"]!));
        Assert.Contains("1997-05", (string?)answer.Rows[1]["At"], StringComparison.Ordinal);

        answer = await _database.AskAsync("from Docs group by At where utc(At) >= '1997' order by utc(At) select utc(At) as U, At");
        Assert.Equal(
            ["1997-05-01T23:30:15.2500000", "1997-12-31T00:00:00.0000000", "2024-02-28T23:00:00.0000000"],
            answer.Rows.Select(static row => (string)row["U"]!));

        answer = await _database.AskAsync("from Docs select facet(year(At))");
        Assert.Contains("\"Range\":\"1997\",\"Count\":2", answer.Bodies.Single(), StringComparison.Ordinal);

        Assert.Equal(2, await _database.DeleteByQueryAsync("from Docs where year(At) = 1997", Cancel));
        Assert.Equal(["d/2"], (await _database.AskAsync("from Docs where year(At) > 0")).Ids);
    }

    [Fact]
    public async Task They_are_kept_across_openings_and_in_dumps()
    {
        string place = Path.Combine(_files.Path, "data");
        using var dump = new MemoryStream();
        const string Query = "from Docs order by count(Lines) desc, year(At)";
        const string Groups = "from Docs group by At where year(At) > 2000 select At";
        await using (Database database = Database.Open(place))
        {
            await database.PutAsync("d/1", """{"At":"2024-01-01","Lines":[]}""", "Docs");
            await database.PutAsync("d/2", """{"At":"2023-01-01","Lines":[1]}""", "Docs");
            await database.AskAsync(Query);
            await database.AskAsync(Groups);
            await database.BackupAsync(dump, cancellationToken: Cancel);
        }

        dump.Position = 0;
        await using Database imported = Database.Open(Path.Combine(_files.Path, "imported"));
        await imported.ImportAsync(dump, cancellationToken: Cancel);
        await using Database again = Database.Open(place);
        foreach (Database database in (Database[])[again, imported])
        {
            await database.PutAsync("d/3", """{"At":"2022-01-01","Lines":[1,2]}""", "Docs");
            int before = database.Indexes.List().Count;
            Answer answer = await database.AskAsync(Query);
            Assert.Equal(["d/3", "d/2", "d/1"], answer.Ids);
            Assert.Equal("Auto/Docs/ByCount(Lines)AndYear(At)", answer.Index);
            Assert.Equal(3, (await database.AskAsync(Groups)).Total);
            Assert.Equal(before, database.Indexes.List().Count);
        }
    }

    [Theory]
    [InlineData("from Docs where search(»length(Name), 'a')", "without words")]
    [InlineData("from Docs where lucene(»length(Name), 'a')", "without words")]
    [InlineData("from Docs order by »frob(Name)", "'frob()'")]
    public async Task What_has_no_order_is_refused(string marked, string reason)
    {
        int position = marked.IndexOf('»', StringComparison.Ordinal);
        InvalidQueryException refused = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(marked.Remove(position, 1)));
        Assert.Contains(reason, refused.Message, StringComparison.Ordinal);
        Assert.Equal(position + 1, refused.Column);
    }

    /// <summary>Random documents: orders and conditions against what is computed of each by hand, and by <c>filter</c>.</summary>
    [Fact]
    public async Task Random_documents_come_as_they_do_one_by_one()
    {
        var random = new Random(7);
        string[] times = ["2024-03-01T00:00:00Z", "2019-12-31T23:59:59.9999999+01:00", "2020-02-29", "13:45:00", "soon", ""];
        var documents = new List<(string Id, string? At, int Lines)>();
        var batch = new WriteBatch();
        for (int i = 0; i < 400; i++)
        {
            string? at = random.Next(8) is var one && one < times.Length ? times[one] : null;
            int lines = random.Next(5);
            var body = new JsonObject
            {
                ["At"] = at,
                ["Lines"] = new JsonArray([.. Enumerable.Range(0, lines).Select(n => n == 2 ? new JsonArray(1, 2) : (JsonNode)n)]),
                ["@metadata"] = new JsonObject { ["@collection"] = "Random" },
            };
            if (lines == 4)
                body.Remove("Lines");
            batch.Put($"r/{i}", Encoding.UTF8.GetBytes(body.ToJsonString()));
            documents.Add(($"r/{i}", at, lines == 4 ? 0 : lines));
        }

        await _database.WriteAsync(batch, Cancel);
        static int? Year(string? at) => DateTimeOffset.TryParseExact(
            at, ["yyyy-MM-dd'T'HH:mm:ss.FFFFFFFK", "yyyy-MM-dd"], CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal,
            out DateTimeOffset time)
            ? time.Year
            : at == "13:45:00" ? 1 : null;
        string[] expected = [
            .. documents.OrderByDescending(static d => d.Lines).ThenBy(static d => Year(d.At))
                .ThenBy(static d => int.Parse(d.Id[2..], CultureInfo.InvariantCulture)).Select(static d => d.Id)];
        foreach (int page in (int[])[0, 1, 7])
            Assert.Equal(
                expected.Skip(page * 50).Take(50),
                (await _database.AskAsync(
                    "from Random order by count(Lines) desc, year(At) as long, id() as alphaNumeric "
                        + $"limit {page * 50}, 50")).Ids);
        foreach (string condition in (string[])
            [
                "year(At) = 2024", "year(At) != 2024", "year(At) in (1, 2020)", "year(At) between 1 and 2019", "year(At) = null",
                "length(At) > 9", "length(At) = 0", "date(At) > '2020'", "startsWith(date(At), '2')", "count(Lines) >= 2",
                "count(Lines) != 0", "dayOfWeek(At) = 2", "exists(year(At))", "month(At) = 12 or hour(At) = 13",
            ])
            Assert.Equal(
                (await _database.AskAsync($"from Random order by id() filter {condition}")).Ids,
                (await _database.AskAsync($"from Random where {condition} order by id()")).Ids);
    }
}
