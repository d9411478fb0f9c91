using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Clients store a moment without a Z and ask for it with one: it is the same moment.</summary>
public sealed class TimeQueryTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public TimeQueryTests() => _database = Database.Open(_folder.Path);

    public async ValueTask InitializeAsync()
    {
        await _database.PutAsync("days/1", """{"At":"2024-01-01T00:00:00.0000000"}""", "Days");
        await _database.PutAsync("days/2", """{"At":"2024-01-01T00:00:00.0000000Z"}""", "Days");
        await _database.PutAsync("days/3", """{"At":"2024-01-01T00:00:00.0000001"}""", "Days");
        await _database.PutAsync("days/4", """{"At":"2023-12-31T23:59:59.9999999Z"}""", "Days");
        await _database.PutAsync("days/5", """{"At":["2024-01-01T00:00:00.0000000","2023-12-31T23:59:59.9999999"]}""", "Days");
        await _database.PutAsync("days/6", """{"At":"2024-01-01T00:00:00"}""", "Days");
    }

    public ValueTask DisposeAsync()
    {
        _database.Dispose();
        _folder.Dispose();
        return ValueTask.CompletedTask;
    }

    [Theory]
    [InlineData("At = $day", "1 2 5")]
    [InlineData("At != $day", "3 4 6")]
    [InlineData("At in ($day, '2024-01-01T00:00:00.0000001Z')", "1 2 3 5")]
    [InlineData("At in ($days)", "1 2 3 5")]
    [InlineData("At all in ($days)", "")]
    [InlineData("At all in ($day, '2023-12-31t23:59:59.9999999z')", "5")]
    [InlineData("At < $day", "4 5 6")]
    [InlineData("At <= $day", "1 2 4 5 6")]
    [InlineData("At > $day", "3")]
    [InlineData("At >= $day", "1 2 3 5")]
    [InlineData("At between $before and $day", "1 2 4 5 6")]
    [InlineData("At = '2024-01-01T00:00:00'", "6")]
    [InlineData("At = '2024-01-01T00:00:00Z'", "")]
    [InlineData("exact(At = $day)", "2")]
    [InlineData("exact(At in ($day))", "2")]
    [InlineData("exact(At > '2024-01-01T00:00:00.0000000')", "2 3")]
    public async Task A_moment_is_the_same_with_and_without_Z(string where, string days)
    {
        const string Parameters =
            """{"day":"2024-01-01T00:00:00.0000000Z","before":"2023-12-31T23:59:59.9999999","days":["2024-01-01T00:00:00.0000000","2024-01-01T00:00:00.0000001"]}""";
        foreach (string asked in (string[])
        [
            Parameters,
            where.StartsWith("exact", StringComparison.Ordinal)
                ? Parameters
                : Parameters.Replace(".0000000Z", ".0000000", StringComparison.Ordinal)
        ])
            Assert.Equal(
                days,
                string.Join(
                    ' ',
                    (await _database.AskAsync($"from Days where {where}", asked)).Ids
                        .Select(id => id[5..])
                        .Order(StringComparer.Ordinal)));
    }
}
