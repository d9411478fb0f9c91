using System.Text;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// Pages of the documents themselves, however deep, are those that going through all of them gives; what is left out is not
/// looked at.
/// </summary>
public sealed class ScanTests : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public ScanTests() => _database = Database.Open(_folder.Path);

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Pages_of_scans_are_those_of_the_whole(bool oneCollection)
    {
        var random = new Random(Seed.Next());
        var written = new List<(string Id, string Collection)>();
        for (int i = 0; i < 3_000; i++)
        {
            string collection = oneCollection || random.Next(3) > 0 ? "Docs" : "Others";
            written.Add(($"{(random.Next(4) == 0 ? "a" : "docs")}/{random.Next(100)}/{i}", collection));
        }

        foreach ((string Id, string Collection)[] chunk in written.Chunk(500))
        {
            var batch = new WriteBatch();
            foreach ((string id, string collection) in chunk)
                batch.Put(
                    id,
                    Encoding.UTF8.GetBytes(
                        $$"""{"Text":"{{new string('x', random.Next(50) == 0 ? 9_000 : random.Next(200))}}","@metadata":{"@collection":"{{collection}}"} }"""));
            await _database.WriteAsync(batch, TestContext.Current.CancellationToken);
        }

        foreach (string source in (string[])["@all_docs", "Docs", "Others", "Nothing"])
        {
            string[] all = [
                .. written.Where(document => source == "@all_docs" || document.Collection == source)
                    .Select(document => document.Id)];
            await ComparePagesAsync($"from {source}", all, random);
            foreach (string prefix in (string[])["", "d", "DOCS/", "docs/7", "docs/42/", "a/", "b", "docs/9999"])
            {
                string[] begun =
                    [.. all.Where(id => id.StartsWith(prefix, StringComparison.OrdinalIgnoreCase)).Order(StringComparer.Ordinal)];
                await ComparePagesAsync($"from {source} where startsWith(id(), '{prefix}')", begun, random);
            }
        }
    }

    private async Task ComparePagesAsync(string text, string[] expected, Random random)
    {
        foreach (int skip in (int[])
        [
            0, random.Next(expected.Length + 1), expected.Length / 2, Math.Max(0, expected.Length - 1), expected.Length,
            expected.Length + 5
        ])
        {
            int take = random.Next(8);
            Answer page = await _database.AskAsync($"{text} limit {skip}, {take}");
            Assert.True(expected.Skip(skip).Take(take).SequenceEqual(page.Ids), $"{text} limit {skip}, {take}");
            Assert.True((expected.Length, true) == (page.Total, page.IsTotalExact), $"{text}: {page.Total} of {expected.Length}");
            Answer uncounted = await _database.AskAsync(
                $"{text} limit {skip}, {take}", change: static request => request with { CountsResults = false });
            Assert.True(page.Ids.SequenceEqual(uncounted.Ids), $"{text} limit {skip}, {take}, not counted");
            Assert.True(uncounted.IsTotalExact ? uncounted.Total == expected.Length : uncounted.Total <= expected.Length, text);
            Answer held = await _database.AskAsync(
                $"{text} limit {skip}, {take}", change: static request => request with { MaxEntries = 1_000_000 });
            Assert.True(page.Ids.SequenceEqual(held.Ids), $"{text} limit {skip}, {take}, with a budget");
        }
    }

    [Fact]
    public async Task A_page_that_is_not_counted_looks_at_no_more_than_it_gives()
    {
        var batch = new WriteBatch();
        for (int i = 0; i < 2_000; i++)
            batch.Put($"docs/{i:D5}", Encoding.UTF8.GetBytes("""{"@metadata":{"@collection":"Docs"} }"""));
        await _database.WriteAsync(batch, TestContext.Current.CancellationToken);
        var request = new QueryRequest
        {
            Text = "from Docs where startsWith(id(), 'docs/') limit 25",
            CountsResults = false,
            MaxEntries = 25
        };
        using QueryResults results = await _database.QueryAsync(request, TestContext.Current.CancellationToken);
        int rows = 0;
        while (results.MoveNext())
            rows++;
        Assert.Equal((25, 25, false), (rows, results.TotalResults, results.IsTotalExact));
    }

    [Theory]
    [InlineData("from Docs")]
    [InlineData("from docs select Text")]
    [InlineData("from @all_docs")]
    [InlineData("from Docs where startsWith(id(), 'DOCS/1')")]
    [InlineData("from @all_docs where startsWith(id(), 'docs/')")]
    [InlineData("from Docs where id() in ('docs/3', 'docs/300', 'docs/14', 'DOCS/3', 'docs/15', 'docs/92', 'docs/6', 'docs/60')")]
    public async Task Pages_that_go_on_neither_miss_nor_repeat_what_did_not_change(string text)
    {
        var random = new Random(Seed.Next());
        var batch = new WriteBatch();
        for (int i = 0; i < 200; i++)
            Put(batch, i, random.Next(3) > 0 ? "Docs" : "Others");
        await _database.WriteAsync(batch, TestContext.Current.CancellationToken);
        var unchanged = (await _database.AskAsync(text)).Ids.ToHashSet();

        var seen = new List<string>();
        string? continuation = null;
        do
        {
            var request = new QueryRequest
            {
                Text = text,
                PageSize = random.Next(1, 9),
                WithContinuation = true,
                Continuation = continuation,
                CountsResults = random.Next(2) == 0
            };
            int before = seen.Count;
            using (QueryResults page = await _database.QueryAsync(request, TestContext.Current.CancellationToken))
            {
                while (page.MoveNext())
                    seen.Add(page.Current.IdText());
                continuation = page.Continuation;
            }

            Assert.Equal(continuation is not null, seen.Count - before == request.PageSize);
            if (seen.Count > 400)
                continue; // what changes comes again at the end of a log, so changes must end
            batch = new WriteBatch();
            for (int change = random.Next(6); change > 0; change--)
            {
                int i = random.Next(220);
                unchanged.RemoveWhere(id => string.Equals(id, $"docs/{i}", StringComparison.OrdinalIgnoreCase));
                batch.Delete($"docs/{i}"); // so that it may be put into another collection
                if (random.Next(2) == 0)
                    Put(batch, i, random.Next(3) > 0 ? "Docs" : "Others");
            }

            await _database.WriteAsync(batch, TestContext.Current.CancellationToken);
        }
        while (continuation is not null);

        Assert.Equal(unchanged.Order(), seen.Where(unchanged.Contains).Order());

        static void Put(WriteBatch batch, int i, string collection) =>
            batch.Put(
                $"docs/{i}", Encoding.UTF8.GetBytes($$"""{"Text":{{i}},"@metadata":{"@collection":"{{collection}}"} }"""));
    }

    [Fact]
    public async Task A_position_in_one_scan_is_refused_by_another()
    {
        var batch = new WriteBatch();
        for (int i = 0; i < 20; i++)
            batch.Put($"docs/{i}", Encoding.UTF8.GetBytes($$"""{"N":{{i}},"@metadata":{"@collection":"Docs"} }"""));
        await _database.WriteAsync(batch, TestContext.Current.CancellationToken);
        string[] texts =
        [
            "from Docs limit 2", "from @all_docs limit 2", "from Docs where startsWith(id(), 'docs/') limit 2",
            "from Docs where startsWith(id(), 'docs/1') limit 2",
            "from Docs where id() in ('docs/1', 'docs/2', 'docs/3') limit 2",
            "from Docs where id() in ('docs/1', 'docs/2', 'docs/4') limit 2", "from Docs where N > 1 limit 2"
        ];
        var ends = new List<string>();
        foreach (string text in texts)
        {
            var request = new QueryRequest { Text = text, WithContinuation = true, WaitForNonStaleResults = true };
            using QueryResults page = await _database.QueryAsync(request, TestContext.Current.CancellationToken);
            while (page.MoveNext())
                continue;
            ends.Add(page.Continuation!); // not null: the page is full
        }

        foreach ((int i, string text) in texts.Index())
        {
            foreach ((int j, string end) in ends.Index())
                if (i != j)
                    await RefusedAsync(text, end);
            await RefusedAsync(text, ends[i][..^2] + (ends[i][^2] == 'A' ? 'B' : 'A') + ends[i][^1]);
        }

        Task RefusedAsync(string text, string end) => Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(text, change: request => request with { Continuation = end }));
    }
}
