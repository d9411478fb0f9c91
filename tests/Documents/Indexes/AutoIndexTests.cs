using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Indexes;

public sealed class AutoIndexTests : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private Database _database;

    public AutoIndexTests() => _database = Database.Open(_folder.Path);

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task The_query_that_makes_an_index_waits_for_it()
    {
        await PutUsersAsync(50);
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = "from Users where Age < 10" }, TestContext.Current.CancellationToken);
        Assert.False(results.IsStale);
        Assert.Equal(10, results.TotalResults);
        Assert.Equal("Auto/Users/ByAge", results.IndexName);
    }

    [Fact]
    public async Task A_query_that_fits_takes_the_index_that_is_there()
    {
        await PutUsersAsync(3);
        Assert.Equal("Auto/Users/ByNameAndAge", (await _database.AskAsync("from Users where Name = 'user 1' and Age = 1")).Index);
        Assert.Equal("Auto/Users/ByNameAndAge", (await _database.AskAsync("from users order by Age as long")).Index);
        Assert.Equal("Auto/Users/ByNameAndAge", (await _database.AskAsync("from Users where Age = 1 and Name = 'x'")).Index);
        Assert.Single(_database.Indexes.List());
    }

    [Fact]
    public async Task A_query_about_more_widens_the_index_and_the_old_one_goes()
    {
        await PutUsersAsync(20);
        await _database.AskAsync("from Users where Name = 'x'");
        Answer answer = await _database.AskAsync("from Users where Age = 3 and search(Notes, 'even')");
        Assert.Equal("Auto/Users/ByNameAndAgeAndSearch(Notes)", answer.Index);

        // It goes once the wider one is complete, which it was when it answered.
        await _database.Indexes.WaitForRemovalAsync("Auto/Users/ByName");
        Assert.Equal(["Auto/Users/ByNameAndAgeAndSearch(Notes)"], _database.Indexes.List().Select(i => i.Name));
        Assert.Equal("Auto/Users/ByNameAndAgeAndSearch(Notes)", (await _database.AskAsync("from Users where Name = 'x'")).Index);
    }

    [Fact]
    public async Task Collections_have_indexes_of_their_own()
    {
        await PutUsersAsync(3);
        await _database.PutAsync("dogs/1", """{"Name":"user 1"}""", "Dogs");
        Assert.Equal(1, (await _database.AskAsync("from Users where Name = 'user 1'")).Total);
        Assert.Equal(1, (await _database.AskAsync("from Dogs where Name = 'user 1'")).Total);
        Answer all = await _database.AskAsync("from @all_docs where Name = 'user 1'");
        Assert.Equal((2, "Auto/AllDocs/ByName"), (all.Total, all.Index));
    }

    [Fact]
    public async Task A_collection_that_never_was_leaves_no_index()
    {
        Answer answer = await _database.AskAsync("from Ghosts where Name = 'x'");
        Assert.Equal((0, "collection/Ghosts"), (answer.Total, answer.Index));
        Assert.Empty(_database.Indexes.List());
    }

    [Fact]
    public async Task Indexes_survive_a_restart_and_go_on()
    {
        await PutUsersAsync(30);
        await _database.AskAsync("from Users where Age = 1");
        Reopen();
        Assert.Equal(["Auto/Users/ByAge"], _database.Indexes.List().Select(i => i.Name));
        await _database.DeleteAsync("users/1");
        await _database.PutAsync("users/99", """{"Age":2}""", "Users");
        Assert.Equal(0, (await _database.AskAsync("from Users where Age = 1")).Total);
        Assert.Equal(2, (await _database.AskAsync("from Users where Age = 2")).Total);
    }

    [Fact]
    public async Task An_index_whose_files_are_damaged_is_built_again()
    {
        await PutUsersAsync(30);
        await _database.AskAsync("from Users where Age = 1");
        _database.Dispose();
        foreach (string file in Directory.EnumerateFiles(Path.Combine(_folder.Path, "indexes"), "*", SearchOption.AllDirectories))
            if (!file.EndsWith("definition.json", StringComparison.Ordinal))
                await File.WriteAllBytesAsync(
                    file, [.. Enumerable.Range(0, 20_000).Select(i => (byte)(i * 31))], TestContext.Current.CancellationToken);

        _database = Database.Open(_folder.Path);
        Answer answer = await _database.AskAsync("from Users where Age = 1");
        Assert.Equal((1, "Auto/Users/ByAge"), (answer.Total, answer.Index));
    }

    [Fact]
    public async Task An_index_that_is_lost_is_made_again_by_the_next_query()
    {
        await PutUsersAsync(5);
        await _database.AskAsync("from Users where Age = 1");
        _database.Dispose();
        Directory.Delete(Path.Combine(_folder.Path, "indexes"), recursive: true);
        _database = Database.Open(_folder.Path);
        Assert.Empty(_database.Indexes.List());
        Assert.Equal(1, (await _database.AskAsync("from Users where Age = 1")).Total);
    }

    [Fact]
    public async Task Delete_removes_the_index_with_its_files()
    {
        await PutUsersAsync(5);
        await _database.AskAsync("from Users where Age = 1");
        Assert.True(_database.Indexes.Delete("auto/users/byage"));
        Assert.False(_database.Indexes.Delete("Auto/Users/ByAge"));
        Assert.Empty(_database.Indexes.List());
        Reopen();
        Assert.Empty(_database.Indexes.List());
        Assert.Empty(Directory.EnumerateDirectories(Path.Combine(_folder.Path, "indexes")));
    }

    [Fact]
    public async Task An_index_deleted_while_results_are_read_is_read_to_its_end()
    {
        await PutUsersAsync(200);
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = "from Users where Age >= 0" }, TestContext.Current.CancellationToken);
        Assert.True(results.MoveNext());
        _database.Indexes.Delete("Auto/Users/ByAge");
        int count = 1;
        while (results.MoveNext())
            count++;
        Assert.Equal(200, count);
    }

    [Fact]
    public async Task Reset_builds_the_index_again()
    {
        await PutUsersAsync(40);
        await _database.AskAsync("from Users where Age = 1");
        _database.Indexes.Reset("Auto/Users/ByAge");
        Assert.Equal(40, (await _database.AskAsync("from index 'Auto/Users/ByAge'")).Total);
        Assert.Throws<IndexNotFoundException>(() => _database.Indexes.Reset("Auto/Users/ByNothing"));
        Reopen();
        Assert.Equal(40, Assert.Single(_database.Indexes.List()).EntryCount);
    }

    [Fact]
    public async Task Statistics_say_how_far_an_index_is()
    {
        await PutUsersAsync(7);
        await _database.AskAsync("from Users where Age = 1 and search(Notes, 'even')");
        IndexStatistics index = Assert.Single(_database.Indexes.List());
        Assert.Equal(
            ("Users", 7, false, IndexState.Normal),
            (Assert.Single(index.Collections), index.EntryCount, index.IsStale, index.State));
        Assert.Equal(["Age", "search(Notes)"], index.Fields);
        Assert.Equal(7, index.LastIndexedEtag);
        Assert.NotNull(index.LastIndexingTime);
    }

    [Fact]
    public async Task Waiting_for_indexes_that_are_up_ends_at_once_and_names_are_checked()
    {
        await PutUsersAsync(5);
        await _database.AskAsync("from Users where Age = 1");
        await _database.PutAsync("users/6", """{"Age":1}""", "Users");
        Assert.True(
            await _database.Indexes.WaitForNonStaleAsync(TimeSpan.FromMinutes(1), null, TestContext.Current.CancellationToken));
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = "from Users where Age = 1" }, TestContext.Current.CancellationToken);
        Assert.False(results.IsStale);
        Assert.Equal(2, results.TotalResults);
        await Assert.ThrowsAsync<IndexNotFoundException>(
            () => _database.Indexes.WaitForNonStaleAsync(
                TimeSpan.FromMinutes(1), ["nope"], TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task A_document_put_into_another_collection_leaves_the_index_of_the_first()
    {
        await PutUsersAsync(3);
        await _database.AskAsync("from Users where Age >= 0");
        await _database.DeleteAsync("users/1");
        await _database.PutAsync("users/1", """{"Age":1}""", "Retired");
        Assert.Equal(2, (await _database.AskAsync("from Users where Age >= 0")).Total);
        Assert.Equal(1, (await _database.AskAsync("from Retired where Age >= 0")).Total);
    }

    [Fact]
    public async Task Ids_that_differ_by_case_are_one_entry()
    {
        await PutUsersAsync(1);
        await _database.AskAsync("from Users where Age >= 0");
        await _database.PutAsync("USERS/0", """{"Age":5}""", "Users");
        Answer answer = await _database.AskAsync("from Users where Age >= 0");
        Assert.Equal(1, answer.Total);
        await _database.DeleteAsync("Users/0");
        Assert.Equal(0, (await _database.AskAsync("from Users where Age >= 0")).Total);
    }

    [Fact]
    public async Task Queries_asked_at_once_share_one_index()
    {
        await PutUsersAsync(100);
        Answer[] answers = await Task.WhenAll(
            Enumerable.Range(0, 16).Select(i => _database.AskAsync($"from Users where Age = {i} and Field{i % 4} = null")));
        Assert.All(answers, a => Assert.Equal(1, a.Total));
        Assert.All(_database.Indexes.List(), i => Assert.StartsWith("Auto/Users/By", i.Name, StringComparison.Ordinal));
        Assert.Equal(
            1,
            (await _database.AskAsync(
                "from Users where Age = 1 and Field0 = null and Field1 = null and Field2 = null and Field3 = null")).Total);
    }

    [Fact]
    public async Task Everybody_who_waits_sees_what_he_wrote_before()
    {
        await PutUsersAsync(1);
        await Task.WhenAll(Enumerable.Range(0, 8).Select(async writer =>
        {
            for (int i = 0; i < 20; i++)
            {
                await _database.PutAsync($"users/{writer}-{i % 5}", $$"""{"Age":{{i}},"Writer":{{writer}}}""", "Users");
                Answer answer = await _database.AskAsync($"from Users where Age = {i} and Writer = {writer}");
                Assert.Equal([$"users/{writer}-{i % 5}"], answer.Ids);
                Assert.False(answer.IsStale);
            }
        }));
        Assert.Equal(41, (await _database.AskAsync("from Users where Age >= 0 and Writer != -1")).Total);
    }

    private void Reopen()
    {
        _database.Dispose();
        _database = Database.Open(_folder.Path);
    }

    private async Task PutUsersAsync(int count)
    {
        for (int i = 0; i < count; i++)
            await _database.PutAsync(
                $"users/{i}", $$"""{"Name":"user {{i}}","Age":{{i}},"Notes":"{{(i % 2 == 0 ? "an even" : "an odd")}} one"}""",
                "Users");
    }
}
