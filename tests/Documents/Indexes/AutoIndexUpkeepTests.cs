using Treepie.Documents.Tests.BackupTasks;
using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>
/// Indexes that queries make do not grow without end: not by misspelt names, not by many shapes of queries, not by collections
/// that nobody asks about any more.
/// </summary>
public sealed class AutoIndexUpkeepTests : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private readonly ManualClock _clock = new();
    private readonly Database _database;

    public AutoIndexUpkeepTests() => _database = Database.Open(
        _folder.Path,
        new DatabaseOptions
        {
            TimeProvider = _clock,
            Indexing = new IndexingOptions { MaxAutoIndexes = 3, AutoIndexRetention = TimeSpan.FromHours(10) }
        });

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task Misspelt_fields_leave_the_index_again()
    {
        await _database.PutAsync("users/1", """{"Name":"Anna","Age":5}""", "Users");
        await _database.AskAsync("from Users where Name = 'anna' and Age = 5");
        for (int i = 0; i < 150; i++)
        {
            await _database.PutAsync("users/2", $$"""{"Name":"Berta","Age":{{i}}}""", "Users");
            Answer answer = await _database.AskAsync($"from Users where Age = {i} and not Nmae{i} = 'x' order by Misspelt{i}");
            Assert.Equal((1 + (i == 5 ? 1 : 0), false), (answer.Total, answer.IsStale));
        }

        // At the most those that are kept, those that are too many, and those of the last query.
        IndexStatistics[] indexes = [.. _database.Indexes.List()];
        Assert.InRange(indexes.Length, 1, 2);
        Assert.All(indexes, index => Assert.InRange(index.Fields.Count, 2, 70));
        Assert.Equal(1, (await _database.AskAsync("from Users where Name = 'anna' and Misspelt149 = null")).Total);
    }

    [Fact]
    public async Task What_has_no_room_in_one_index_goes_to_the_next_one_that_has()
    {
        await _database.PutAsync(
            "rows/1", "{" + string.Join(',', Enumerable.Range(0, 750).Select(i => $"\"F{i}\":{i}")) + "}", "Rows");
        for (int from = 0; from < 750; from += 250)
            Assert.Equal(
                1,
                (await _database.AskAsync(
                    $"from Rows where {string.Join(" and ", Enumerable.Range(from, 250).Select(i => $"F{i} = {i}"))}")).Total);
        Assert.Equal([250, 500], _database.Indexes.List().Select(index => index.Fields.Count).Order());
        for (int i = 0; i < 20; i++)
            Assert.Equal(1, (await _database.AskAsync($"from Rows where F{i} = {i} and F{700 + i} = {700 + i}")).Total);
        Assert.Equal([258, 512], _database.Indexes.List().Select(index => index.Fields.Count).Order());
    }

    [Fact]
    public async Task With_as_many_indexes_as_there_may_be_the_least_used_gives_way_or_the_query_is_refused()
    {
        for (int i = 0; i < 4; i++)
            await _database.PutAsync($"c{i}/1", """{"Name":"x"}""", $"C{i}");
        for (int i = 0; i < 3; i++)
        {
            await _database.AskAsync($"from C{i} where Name = 'x'");
            _clock.Now += TimeSpan.FromMinutes(10);
        }

        await _database.AskAsync("from C0 where Name = 'x'");
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync("from C3 where Name = 'x'"));
        Assert.Contains("3 indexes that queries may make", error.Message, StringComparison.Ordinal);
        Assert.Contains("'Auto/C1/ByName' was used least recently", error.Message, StringComparison.Ordinal);
        Assert.Equal(3, _database.Indexes.List().Count);

        _clock.Now += TimeSpan.FromMinutes(45);
        Assert.Equal(1, (await _database.AskAsync("from C3 where Name = 'x'")).Total);
        Assert.Equal(
            ["Auto/C0/ByName", "Auto/C2/ByName", "Auto/C3/ByName"], _database.Indexes.List().Select(index => index.Name));
    }

    [Fact]
    public async Task An_index_that_nobody_asks_goes_when_another_is_made()
    {
        await _database.PutAsync("c0/1", """{"Name":"x"}""", "C0");
        await _database.PutAsync("c1/1", """{"Name":"x"}""", "C1");
        await _database.AskAsync("from C0 where Name = 'x'");
        await _database.AskAsync("from C1 where Name = 'x'");
        _clock.Now += TimeSpan.FromHours(9);
        await _database.AskAsync("from index 'Auto/C1/ByName' where Name = 'x'");
        _clock.Now += TimeSpan.FromHours(2);
        await _database.AskAsync("from @all_docs where Name = 'x'");
        Assert.Equal(["Auto/AllDocs/ByName", "Auto/C1/ByName"], _database.Indexes.List().Select(index => index.Name));
        Assert.Equal(1, (await _database.AskAsync("from C0 where Name = 'x'")).Total);
    }

    [Fact]
    public async Task A_query_that_is_repeated_keeps_its_index()
    {
        await _database.PutAsync("c0/1", """{"Name":"x"}""", "C0");
        await _database.PutAsync("c1/1", """{"Name":"x"}""", "C1");
        for (int i = 0; i < 3; i++)
        {
            await _database.AskAsync("from C0 where Name = 'x'");
            await _database.AskAsync("from C1 where Name = 'x'");
        }

        _clock.Now += TimeSpan.FromHours(9);
        Assert.Equal(1, (await _database.AskAsync("from C0 where Name = 'x'")).Total);
        _clock.Now += TimeSpan.FromHours(2);
        await _database.AskAsync("from @all_docs where Name = 'x'");
        Assert.Equal(["Auto/AllDocs/ByName", "Auto/C0/ByName"], _database.Indexes.List().Select(index => index.Name));
    }

    [Fact]
    public async Task A_query_that_is_repeated_is_answered_by_whatever_became_of_its_index()
    {
        await _database.PutAsync("c0/1", """{"Name":"x","Age":5}""", "C0");
        Action[] changes =
        [
            () => { },
            () => _database.Indexes.Delete("Auto/C0/ByName"),
            () => _database.AskAsync("from C0 where Age = 5").GetAwaiter().GetResult(),
            () => _database.Indexes.Reset("Auto/C0/ByNameAndAge"),
            () => _database.Indexes.Delete("Auto/C0/ByNameAndAge"),
        ];
        foreach (Action change in changes)
        {
            for (int i = 0; i < 3; i++)
                Assert.Equal(1, (await _database.AskAsync("from C0 where Name = 'x'")).Total);
            change();
        }

        Assert.Equal(1, (await _database.AskAsync("from C0 where Name = 'x'")).Total);
        Assert.Equal(["Auto/C0/ByName"], _database.Indexes.List().Select(index => index.Name));
    }

    [Theory]
    [InlineData("from Users where Nmae = 'x'", "No document of 'Users' has a field 'Nmae'. Did you mean 'Name'?")]
    [InlineData(
        "from Users where Name = 'x' order by Agee as long", "No document of 'Users' has a field 'Agee'. Did you mean 'Age'?")]
    [InlineData(
        "from Users where search(Notez, 'x')", "No document of 'Users' has anything at 'Notez' that 'search()' could find.")]
    [InlineData(
        "from Users where search(Nmae, 'x')",
        "No document of 'Users' has anything at 'Nmae' that 'search()' could find. Did you mean 'Name'?")]
    [InlineData("from Users where search(Age, 'x')", "No document of 'Users' has anything at 'Age' that 'search()' could find.")]
    [InlineData("from Users where search(Tags, 'x')", "No document of 'Users' has anything at 'Tags' that 'search()' could find.")]
    [InlineData("from Users where search(Rest, 'x')", "No document of 'Users' has anything at 'Rest' that 'search()' could find.")]
    [InlineData(
        "from Users where vector.search(Name, 'AACAPwAAAEA=')",
        "No document of 'Users' has anything at 'Name' that 'vector.search()' could find.")]
    [InlineData(
        "from Users where spatial.within(spatial.point(Lat, Lng), spatial.circle(1, 2, 3))",
        "No document of 'Users' has anything at 'Lat' that 'spatial.point()' could find.")]
    [InlineData("from @all_docs where Nmae = 'x'", "No document has a field 'Nmae'. Did you mean 'Name'?")]
    [InlineData("from Userz where Name = 'x'", "There is no collection 'Userz'. Did you mean 'Users'?")]
    [InlineData("from Userz", "There is no collection 'Userz'. Did you mean 'Users'?")]
    [InlineData("from Empty where startsWith(id(), 'x')", "The collection 'Empty' has no documents.")]
    [InlineData("from Users where Name = 'x' or exists(Age)", null)]
    [InlineData("from users where id() = 'x'", null)]
    [InlineData("from @all_docs where Name = null order by id()", null)]
    public async Task A_name_that_no_document_has_is_told(string query, string? warning)
    {
        await _database.PutAsync(
            "users/1",
            """{"Name":"Anna","Address":{"City":"Reims"},"Age":null,"Tags":[],"Rest":{},"Lat":91,"Lng":1}""", "Users");
        await _database.PutAsync("empty/1", "{}", "Empty");
        await _database.DeleteAsync("empty/1");
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = query, WaitForNonStaleResults = true }, TestContext.Current.CancellationToken);
        Assert.Equal(warning is null ? [] : [warning], results.Warnings);
    }

    [Fact]
    public async Task Nothing_is_told_of_a_field_that_comes_or_goes()
    {
        await _database.PutAsync("users/1", """{"Name":"Anna"}""", "Users");
        await _database.AskAsync("from Users where Late = 1");
        await _database.PutAsync("users/2", """{"Late":1}""", "Users");
        Assert.Empty(await WarningsAsync("from Users where Late = 1"));
        await _database.DeleteAsync("users/2");
        Assert.Single(await WarningsAsync("from Users where Late = 1"));

        async Task<IReadOnlyList<string>> WarningsAsync(string text)
        {
            using QueryResults results = await _database.QueryAsync(
                new QueryRequest { Text = text, WaitForNonStaleResults = true, WaitTimeout = Eventually.Patience },
                TestContext.Current.CancellationToken);
            return results.Warnings;
        }
    }
}
