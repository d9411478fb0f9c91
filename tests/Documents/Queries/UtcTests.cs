using System.Text;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary><c>utc(F)</c>: times of any offset, compared and sorted as moments.</summary>
public sealed class UtcTests : IDisposable
{
    private static readonly (string Id, string At)[] _documents =
    [
        ("t/1", "\"2024-03-01T00:00:00Z\""),
        ("t/2", "\"2024-03-01T01:00:00+02:00\""), // an hour before
        ("t/3", "\"2024-02-29T23:30:00.5-01:00\""), // half an hour and half a second after
        ("t/4", "\"2024-03-01T00:00:00.0000000\""), // the same as the first
        ("t/5", "\"2024-03-02\""),
        ("t/6", "\"2024-03-01T05:30+05:30\""), // the same as the first
        ("t/7", "null"),
        ("t/8", "\"soon\""),
        ("t/9", "17"),
        ("t/10", "[\"2024-03-01T00:00:00+00:00\",\"2020-01-01T00:00:00-12:00\"]"),
    ];

    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _files.Dispose();

    [Theory]
    [InlineData("utc(At) = '2024-03-01T00:00:00Z'", "1,4,6,10")]
    [InlineData("utc(At) = '2024-03-01T02:00:00.000+02:00'", "1,4,6,10")]
    [InlineData("utc(At) != '2024-03-01T00:00:00Z'", "2,3,5,7,8,9")]
    [InlineData("utc(At) < '2024-03-01T00:00:00Z'", "2,10")]
    [InlineData("utc(At) <= '2024-03-01'", "1,2,4,6,10")]
    [InlineData("utc(At) > '2024-03-01T00:00:00'", "3,5")]
    [InlineData("utc(At) >= '2024-03-01T01:30:00.5+01:00'", "3,5")]
    [InlineData("utc(At) between '2024-02-29T23:00:00Z' and '2024-03-01T01:00:00+01:00'", "1,2,4,6,10")]
    [InlineData("utc(At) in ('2024-03-02T00:00:00Z', '2024-03-01T01:00:00+02:00')", "2,5")]
    [InlineData("utc(At) = null", "7,8,9")]
    [InlineData("utc(At) > '2024-03'", "1,3,4,5,6,10")]
    [InlineData("utc(At) < 'zzz'", "1,2,3,4,5,6,10")]
    [InlineData("startsWith(utc(At), '2024-03-01T00')", "1,3,4,6,10")]
    [InlineData("exact(utc(At) = '2024-03-01T00:00:00Z')", "1,4,6,10")]
    [InlineData("exact(utc(At) in ('2024-03-02T00:00:00Z', '2024-03-01T01:00:00+02:00'))", "2,5")]
    [InlineData("exact(startsWith(utc(At), '2024-03-01T00')) and exact(regex(utc(At), '^2024-03-01T00:00'))", "1,4,6,10")]
    [InlineData("startsWith(utc(At), '2024-03-01t00') and exact(startsWith(utc(At), '2024-03-01t00'))", "1,3,4,6,10")]
    [InlineData("regex(utc(At), '^2024-03-01t00:00') and exact(regex(utc(At), '^2024-03-01t00:00'))", "1,4,6,10")]
    [InlineData("utc(At) > '2024-03-01t' and exact(utc(At) > '2024-03-01t')", "1,3,4,5,6,10")]
    [InlineData("utc(At) between '2024-03-01t' and '2024-03-01u'", "1,3,4,6,10")]
    [InlineData("utc(At) = '2024-03-01T00:00:00Z' and At = '2024-03-01T00:00:00.0000000'", "4")]
    public async Task Moments_are_compared_whatever_their_offset(string condition, string expected)
    {
        await using Database database = await FillAsync();
        Assert.Equal(expected, await IdsAsync(database, $"from Times where {condition} order by id() as alphaNumeric"));
        Assert.Equal(
            expected, await IdsAsync(database, $"from Times where exists(At) order by id() as alphaNumeric filter {condition}"));
    }

    [Fact]
    public async Task They_sort_as_moments_and_are_kept_across_openings()
    {
        await using (Database database = await FillAsync())
        {
            Assert.Equal("2,1,4,6,3,5", await IdsAsync(database, "from Times where utc(At) > '2024' and id() != 't/10' order by utc(At)"));
            Assert.Equal("5,3,1,4,6,2", await IdsAsync(
                database, "from Times where utc(At) > '2024' and id() != 't/10' order by utc(At) desc"));
        }

        await using Database again = Database.Open(Path.Combine(_files.Path, "data"));
        string index = again.Indexes.Definitions().Single().Name;
        Assert.Contains("Utc(At)", index, StringComparison.Ordinal);
        await again.WriteAsync(
            new WriteBatch().Put("t/11", "{\"At\":\"2024-03-01T00:10:00Z\",\"@metadata\":{\"@collection\":\"Times\"}}"u8), Cancel);
        Assert.Equal("2,1,4,6,11,3,5", await IdsAsync(
            again, $"from index '{index}' where utc(At) > '2024' and id() != 't/10' order by utc(At)"));
    }

    [Theory]
    [InlineData("from Times where search(utc(At), '2024')", "without words, places and vectors")]
    [InlineData("from index 'Times/ByAt' where utc(At) = '2024-03-01'", "compute the moment in the map")]
    public async Task Where_there_are_no_moments_they_are_refused(string query, string reason)
    {
        await using Database database = await FillAsync();
        database.Indexes.Put(new() { Name = "Times/ByAt", Collections = ["Times"], Fields = [new() { Name = "At" }] });
        InvalidQueryException refused = await Assert.ThrowsAsync<InvalidQueryException>(
            async () => (await database.QueryAsync(new QueryRequest { Text = query }, Cancel)).Dispose());
        Assert.Contains(reason, refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_dump_has_the_index()
    {
        using var dump = new MemoryStream();
        await using (Database database = await FillAsync())
        {
            await IdsAsync(database, "from Times where utc(At) > '2024'");
            await database.BackupAsync(dump, cancellationToken: Cancel);
        }

        dump.Position = 0;
        await using Database imported = Database.Open(Path.Combine(_files.Path, "imported"));
        await imported.ImportAsync(dump, cancellationToken: Cancel);
        Assert.Contains(imported.Indexes.Definitions(), static mapping => mapping.Name == "Auto/Times/ByUtc(At)");
        Assert.Equal("1,2,3,4,5,6,10", await IdsAsync(imported, "from Times where utc(At) > '2019' order by id() as alphaNumeric"));
    }

    private async Task<Database> FillAsync()
    {
        Database database = Database.Open(Path.Combine(_files.Path, "data"));
        foreach ((string id, string at) in _documents)
            await database.WriteAsync(
                new WriteBatch().Put(
                    id, Encoding.UTF8.GetBytes($"{{\"At\":{at},\"@metadata\":{{\"@collection\":\"Times\"}}}}")), Cancel);
        return database;
    }

    private static async Task<string> IdsAsync(Database database, string query)
    {
        var ids = new List<string>();
        using QueryResults results = await database.QueryAsync(new QueryRequest { Text = query, NeverStale = true }, Cancel);
        while (results.MoveNext())
            ids.Add(results.Current.IdText()[2..]);
        return string.Join(',', ids);
    }
}
