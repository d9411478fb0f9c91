using System.Globalization;
using Treepie.Linq;
using Treepie.Sessions;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>Transactions that run again: all that they read is of one moment, and is still so when they write.</summary>
public sealed class TransactionTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public TransactionTests() => _database = Database.Open(_directory.Path);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>Reads of a session, each with a change by somebody else that makes it read something else.</summary>
    public static TheoryData<string> Reads =>
    [
        "query", "raw query", "rql", "count", "stream", "stream of a prefix", "prefix", "lazy prefix", "exists", "no document",
        "evicted", "cleared", "counter", "counters", "series", "compare exchange", "attachment", "revisions", "linq load",
        "included counter", "group", "index",
    ];

    public void Dispose()
    {
        _database.Dispose();
        _directory.Dispose();
    }

    [Theory]
    [MemberData(nameof(Reads))]
    public async Task What_was_read_is_still_so_when_the_work_is_saved(string kind)
    {
        await FillAsync();
        int runs = 0;
        await _database.RunAsync(
            async session =>
            {
                string before = await ReadAsync(session, kind);
                if (++runs == 1)
                    await ChangeAsync();
                else
                    Assert.Equal(before, await ReadAsync(session, kind));
                await session.StoreAsync(new Result { Text = before }, "results/1", cancellationToken: Token);
            },
            Token);
        Assert.Equal(2, runs);
        using DocumentSession check = _database.OpenSession();
        Assert.Equal(await ReadAsync(check, kind), check.Load<Result>("results/1")!.Text); // stored above
    }

    [Fact]
    public async Task A_query_of_a_collection_bears_changes_of_others()
    {
        await FillAsync();
        int runs = 0;
        await _database.RunAsync(
            async session =>
            {
                runs++;
                int poor = await session.Query<Account>().CountAsync(account => account.Balance < 5, Token);
                await SaveAsync(new Result { Text = "another" }, "results/2");
                List<Account> all = await session.Query<Account>().ToListAsync(Token);
                all[0].Balance = poor;
            },
            Token);
        Assert.Equal(1, runs);
    }

    [Theory]
    [InlineData("ACCOUNTS/", "results/2", 1)]
    [InlineData("accounts/", "accountant/1", 1)]
    [InlineData("accounts/", "accounts/7", 2)]
    [InlineData("results/", "Results/2", 2)]
    [InlineData("accounts/", "-accounts/2", 2)]
    [InlineData("accounts/", "-results/9", 1)]
    public async Task A_prefix_bears_changes_of_other_ids(string prefix, string changed, int expected)
    {
        await FillAsync();
        await SaveAsync(new Result { Text = "is deleted" }, "results/9");
        int runs = 0;
        await _database.RunAsync(
            async session =>
            {
                int found = 0;
                await foreach (StreamResult<object> _ in ((DocumentSession)session).Advanced.StreamAsync<object>(
                    new DocumentPrefix { StartsWith = prefix }, Token))
                    found++;
                if (++runs == 1 && changed[0] == '-')
                    await _database.WriteAsync(new WriteBatch().Delete(changed[1..]), Token);
                else if (runs == 1)
                    await SaveAsync(new Result { Text = "another" }, changed);
                await session.StoreAsync(new Result { Text = $"{found}" }, "sums/1", cancellationToken: Token);
            },
            Token);
        Assert.Equal(expected, runs);
    }

    [Fact]
    public async Task A_prefix_conflicts_after_more_changes_than_are_looked_at()
    {
        await FillAsync();
        int runs = 0;
        await _database.RunAsync(
            async session =>
            {
                await session.LoadStartingWithAsync<Account>("accounts/", cancellationToken: Token);
                if (++runs == 1)
                {
                    using var batch = new WriteBatch();
                    for (int i = 0; i < 5_000; i++)
                        batch.Put($"others/{i}", "{}"u8);
                    await _database.WriteAsync(batch, Token);
                }

                await session.StoreAsync(new Result { Text = "done" }, "sums/1", cancellationToken: Token);
            },
            Token);
        Assert.Equal(2, runs);
    }

    [Fact]
    public async Task All_reads_of_a_run_are_of_one_moment()
    {
        await FillAsync();
        int runs = 0;
        await _database.RunAsync(
            async session =>
            {
                Account one = (await session.LoadAsync<Account>("accounts/1", Token))!; // filled above
                if (++runs == 1)
                    await TransferAsync();
                Account two = (await session.LoadAsync<Account>("accounts/2", Token))!; // filled above
                if (one.Balance + two.Balance != 20)
                    throw new InvalidDataException("half of a transfer was seen");
                one.Balance += 0.5m;
            },
            Token);
        Assert.Equal(2, runs);

        runs = 0;
        await _database.RunAsync(
            async session =>
            {
                Account one = (await session.LoadAsync<Account>("accounts/1", Token))!; // filled above
                if (++runs == 1)
                    await TransferAsync();
                decimal sum = (await session.Query<Account>().ToListAsync(Token)).Sum(account => account.Balance);
                Assert.Equal(20.5m, sum);
                Assert.Equal(one.Balance, (await session.LoadAsync<Account>("accounts/1", Token))!.Balance);
            },
            Token);
        Assert.Equal(2, runs); // queries see the newest state only, so this one begins anew
    }

    [Fact]
    public async Task Work_that_only_reads_runs_once_and_writes_nothing()
    {
        await FillAsync();
        int runs = 0;
        long etag = 0;
        await _database.RunAsync(
            async session =>
            {
                runs++;
                Account one = (await session.LoadAsync<Account>("accounts/1", Token))!; // filled above
                await TransferAsync();
                etag = _database.LastEtag;
                Account two = (await session.LoadAsync<Account>("accounts/2", Token))!; // filled above
                Assert.Equal(20, one.Balance + two.Balance);
                Assert.Null(await session.LoadAsync<Account>("accounts/none", Token));
            },
            Token);
        Assert.Equal((1, etag), (runs, _database.LastEtag));
    }

    [Fact]
    public async Task What_the_work_has_saved_itself_is_not_done_twice()
    {
        await FillAsync();
        int runs = 0;
        await Assert.ThrowsAsync<ConcurrencyException>(() => _database.RunAsync(
            async session =>
            {
                runs++;
                Account one = (await session.LoadAsync<Account>("accounts/1", Token))!; // filled above
                one.Balance++;
                await session.SaveChangesAsync(Token);
                await TransferAsync();
                one.Balance++;
            },
            Token));
        Assert.Equal(1, runs);
        using DocumentSession check = _database.OpenSession();
        Assert.Equal(10, check.Load<Account>("accounts/1")!.Balance); // one more, and one given away
    }

    [Fact]
    public async Task A_transaction_of_a_cluster_wide_session_verifies_what_it_loads()
    {
        int runs = 0;
        for (int i = 0; i < 2; i++)
            await _database.RunAsync(
                async session =>
                {
                    runs++;
                    Account? one = await session.LoadAsync<Account>("accounts/1", Token);
                    if (one is null)
                        await session.StoreAsync(new Account { Id = "accounts/1", Balance = 1 }, cancellationToken: Token);
                    else
                        one.Balance++;
                },
                _database.DefaultSession with { IsClusterWide = true },
                Token);
        using DocumentSession check = _database.OpenSession();
        Assert.Equal((2, 2m), (runs, check.Load<Account>("accounts/1")?.Balance));
    }

    private static async Task<string> ReadAsync(IAsyncDocumentSession session, string kind)
    {
        var own = (DocumentSession)session;
        return kind switch
        {
            "query" => Text(await session.Query<Account>().Where(account => account.Balance > 5).ToListAsync(Token)),
            "raw query" => Text(await session.RawQuery<Account>($"from Accounts where Balance > {5}").ToListAsync(Token)),
            "rql" => Text(await own.QueryAsync<Account>("from Accounts where Balance > 5", cancellationToken: Token)),
            "count" => Text(await session.Query<Account>().CountAsync(Token)),
            "stream" => Text(await ListAsync(own.Advanced.StreamAsync(own.Query<Account>(), Token))),
            "stream of a prefix" => Text(
                await ListAsync(
                    own.Advanced.StreamAsync<Account>(new DocumentPrefix { StartsWith = "accounts/" }, Token))),
            "prefix" => Text(await session.LoadStartingWithAsync<Account>("accounts/", cancellationToken: Token)),
            "lazy prefix" => Text(own.Advanced.Lazily.LoadStartingWith<Account>("accounts/").Value),
            "exists" => Text(await own.Advanced.ExistsAsync("accounts/3", Token)),
            "no document" => Text(await session.LoadAsync<Account>("accounts/3", Token) is null),
            "evicted" => Text(Loaded(own, own.Evict)),
            "cleared" => Text(Loaded(own, _ => own.Clear())),
            "counter" => Text(await session.CountersFor("accounts/1").GetAsync("likes", Token)),
            "counters" => Text((await session.CountersFor("accounts/1").GetAllAsync(Token)).Values.Sum()),
            "series" => Text((await session.TimeSeriesFor("accounts/1", "heat").GetAsync(cancellationToken: Token)).Count),
            "compare exchange" => Text((await own.Advanced.ClusterTransaction.GetAsync<int>("key", Token))?.Value),
            "attachment" => Text(own.Advanced.Attachments.Exists("accounts/1", "a.txt")),
            "revisions" => Text(own.Advanced.Revisions.GetFor<Account>("accounts/1").Count),
            "linq load" => Text(
                await session.Query<Result>()
                    .Where(result => result.Of != null)
                    .Select(result => RqlMethods.Load<Account>(result.Of!)!.Balance)
                    .ToListAsync(Token)),
            "included counter" => Text(
                (await session.LoadAsync<Account>("accounts/1", i => i.IncludeCounter("likes"), Token))!.Id
                    + own.CountersFor("accounts/1").Get("likes")),
            "group" => Text(
                await session.Query<Account>()
                    .GroupBy(account => account.Owner)
                    .Select(group => new Result { Of = group.Key, Text = "" + group.Count() })
                    .ToListAsync(Token)),
            _ => Text(await session.RawQuery<Account>("from @all_docs where Balance > 5").ToListAsync(Token)),
        };
    }

    private static decimal Loaded(DocumentSession session, Action<Account> forget)
    {
        Account one = session.Load<Account>("accounts/1")!; // filled before
        forget(one);
        return one.Balance;
    }

    private static string Text(IConvertible? value) => value?.ToString(CultureInfo.InvariantCulture) ?? "none";

    private static string Text(IEnumerable<Account> accounts) =>
        string.Join(' ', accounts.OrderBy(account => account.Id).Select(account => $"{account.Id}:{account.Balance:0.#}"));

    private static string Text(IEnumerable<Result> results) =>
        string.Join(' ', results.OrderBy(result => result.Of).Select(result => $"{result.Of}:{result.Text}"));

    private static string Text(IEnumerable<decimal> values) => string.Join(' ', values.Select(value => $"{value:0.#}"));

    private static async Task<IEnumerable<Account>> ListAsync(IAsyncEnumerable<StreamResult<Account>> results)
    {
        var found = new List<Account>();
        await foreach (StreamResult<Account> result in results)
            found.Add(result.Document);
        return found;
    }

    /// <summary>Changes what each of the reads reads.</summary>
    private async Task ChangeAsync()
    {
        using DocumentSession other = _database.OpenSession(o => o with { IsClusterWide = true });
        other.Load<Account>("accounts/1")!.Balance = 8; // filled before
        other.Store(new Account { Id = "accounts/3", Balance = 30 });
        other.Advanced.ClusterTransaction.Create("key", 4);
        await other.SaveChangesAsync(Token);
        using DocumentSession beside = _database.OpenSession();
        beside.CountersFor("accounts/1").Increment("likes");
        beside.TimeSeriesFor("accounts/1", "heat").Append(new DateTime(2024, 1, 1, 0, 0, 0, DateTimeKind.Utc), 1);
        beside.Advanced.Attachments.Store("accounts/1", "a.txt", new MemoryStream([1]));
        beside.Advanced.Revisions.ForceRevisionCreationFor("accounts/1");
        await beside.SaveChangesAsync(Token);
    }

    private async Task TransferAsync()
    {
        using DocumentSession other = _database.OpenSession();
        other.Load<Account>("accounts/1")!.Balance--; // filled before
        other.Load<Account>("accounts/2")!.Balance++; // filled before
        await other.SaveChangesAsync(Token);
    }

    private async Task FillAsync()
    {
        await SaveAsync(new Account { Balance = 10, Owner = "Ada" }, "accounts/1");
        await SaveAsync(new Account { Balance = 10, Owner = "Bob" }, "accounts/2");
        await SaveAsync(new Result { Of = "accounts/1" }, "results/of");
    }

    private async Task SaveAsync(object entity, string id)
    {
        using DocumentSession session = _database.OpenSession();
        session.Store(entity, id);
        await session.SaveChangesAsync(Token);
    }

    private sealed class Account
    {
        public string? Id { get; set; }

        public string? Owner { get; set; }

        public decimal Balance { get; set; }
    }

    private sealed class Result
    {
        public string? Of { get; set; }

        public string? Text { get; set; }
    }
}
