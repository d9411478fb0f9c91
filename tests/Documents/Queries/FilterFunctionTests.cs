using Treepie.Queries;

namespace Treepie.Documents.Tests.Queries;

/// <summary>What <c>filter</c> computes of values: lengths, parts of times, numbers of elements.</summary>
public sealed class FilterFunctionTests : IDisposable
{
    private static readonly (string Id, string Body)[] _documents =
    [
        ("t/1", """{"Name":"Ada","At":"2024-02-29T23:30:15.5000000","Lines":[{"N":1,"In":["a","bcd"]},{"N":5}],"Tags":["x"]}"""),
        ("t/2", """{"Name":"","At":"2024-03-01T01:00:00+02:00","Lines":[{"N":7,"In":[]},{"N":9,"In":["ef"]}],"Tags":"x"}"""),
        ("t/3", """{"Name":null,"At":"2023-12-31","Lines":[],"Tags":null}"""),
        ("t/4", """{"Name":17,"At":"soon"}"""),
        ("t/5", """{"Name":"Émile 𝒳","At":"13:45:00"}"""),
    ];

    private readonly Database _database = Database.OpenInMemory();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _database.Dispose();

    [Theory]
    [InlineData("length(Name) = 3", "1")]
    [InlineData("length('Name') = 3 and count('Lines[].In') = 2", "1")] // paths in quotes
    [InlineData("length(date(At)) = 10 and year('At') = 2023", "3")]
    [InlineData("utc('At') = '2024-02-29T23:00:00Z'", "2")]
    [InlineData("length(Name) = 0", "2")]
    [InlineData("length(Name) > 3", "5")]
    [InlineData("LENGTH(Name) = 8", "5")] // as .NET counts
    [InlineData("length(Name) = null", "3,4")]
    [InlineData("length(Name) != 3", "2,3,4,5")]
    [InlineData("length(Name) in (0, 3)", "1,2")]
    [InlineData("length(Name) between 1 and 5", "1")]
    [InlineData("year(At) = 2024", "1,2")]
    [InlineData("month(At) = 3", "2")] // of its own offset
    [InlineData("day(At) >= 29", "1,3")]
    [InlineData("hour(At) = 23 and minute(At) = 30 and second(At) = 15 and millisecond(At) = 500", "1")]
    [InlineData("hour(At) = 13", "5")]
    [InlineData("dayOfYear(At) = 60", "1")]
    [InlineData("dayOfWeek(At) = 0", "3")]
    [InlineData("date(At) = '2024-03-01'", "2")]
    [InlineData("date(At) < '2024-01-01'", "3,5")] // a time of day has the first day
    [InlineData("count(Lines) = 2", "1,2")]
    [InlineData("count(Lines) = 0", "3,4,5")]
    [InlineData("count(Tags) = 1", "1,2")] // a value that is no array is its only element
    [InlineData("count(Lines as l, l.N > 4) = 1", "1")]
    [InlineData("count(Lines as l, l.N > 4 and count(l.In) > 0) >= 1", "2")]
    [InlineData("count(Lines[].In) = 2", "1")]
    [InlineData("any(Lines as l, count(l.In as i, length(i) > 1) = 1)", "1,2")]
    [InlineData("count(Lines) < length(Name)", "1,5")]
    [InlineData("exact(length(Name) = 3)", "1")]
    public async Task Values_are_computed_of_each_document(string condition, string expected)
    {
        foreach ((string id, string body) in _documents)
            await _database.PutAsync(id, body, "Things");
        Assert.Equal(expected, await IdsAsync($"from Things order by id() as alphaNumeric filter {condition}"));
    }

    [Theory]
    [InlineData("from Things filter length(3) = 3", "Expected is a field")]
    [InlineData("from Things filter length(Name, 3) = 3", "Expected is a field")]
    [InlineData("from Things filter count(Lines as l) = 3", "takes an array with a name")]
    public async Task What_computes_nothing_is_refused(string query, string reason)
    {
        await _database.PutAsync("t/1", _documents[0].Body, "Things");
        InvalidQueryException refused = await Assert.ThrowsAsync<InvalidQueryException>(() => IdsAsync(query));
        Assert.Contains(reason, refused.Message, StringComparison.Ordinal);
    }

    private async Task<string> IdsAsync(string query)
    {
        using QueryResults results = await _database.QueryAsync(new QueryRequest { Text = query }, Cancel);
        var ids = new List<string>();
        while (results.MoveNext())
            ids.Add(results.Current.IdText()[2..]);
        return string.Join(',', ids);
    }
}
