using System.Collections.Concurrent;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Linq;
using Treepie.Sessions;
using Treepie.Store;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>What a store does with many documents at once, and what it tells of changes.</summary>
public sealed class StoreOperationTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public StoreOperationTests() => _database = Database.Open(_directory.Path);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private IDocumentStore Store => _database;

    public void Dispose()
    {
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Members_of_all_that_a_condition_finds_are_patched()
    {
        await FillAsync(3_000);
        long changed = await Store.PatchByQueryAsync<Account>(
            account => account.Owner == "even",
            patch => patch.Set(account => account.State, "seen").Increment(account => account.Balance, 5m),
            Token);
        Assert.Equal(1_500, changed);
        using DocumentSession session = _database.OpenSession();
        List<Account> all = await session.Query<Account>().ToListAsync(Token);
        Assert.Equal(3_000, all.Count);
        Assert.All(
            all,
            account => Assert.Equal(account.Owner == "even" ? ("seen", 15m) : (null, 10m), (account.State, account.Balance)));

        Assert.Equal(0, await Store.PatchByQueryAsync<Account>(
            account => account.Owner == "even", patch => patch.Set(account => account.State, "seen"), Token)); // as they are
        await Assert.ThrowsAsync<NotSupportedException>(() => Store.PatchByQueryAsync<Account>(
            account => account.Owner == "even", patch => patch.Increment(account => account.Owner!.Length, 1), Token)); // JSON
        await Assert.ThrowsAsync<NotSupportedException>(() => Store.DeleteByQueryAsync<Account>(
            account => account.Balance * 2 > 5, Token));
        Assert.Equal(0, await Store.DeleteByQueryAsync<Account>(account => account.Owner == account.State, Token)); // examined
        Assert.Equal(3_000, _database.GetStatistics().DocumentCount - OtherDocuments());
    }

    [Fact]
    public async Task What_a_query_in_text_finds_is_deleted()
    {
        await FillAsync(2_500);
        Assert.Equal(1_250, await Store.DeleteByQueryAsync("from Accounts where Owner = $owner", new { owner = "odd" }, Token));
        Assert.Equal(1_250, await Store.DeleteByQueryAsync<Account>(account => account.Balance == 10m, Token));
        Assert.Equal(0, _database.GetStatistics().DocumentCount - OtherDocuments());
        await Assert.ThrowsAsync<InvalidQueryException>(
            () => Store.DeleteByQueryAsync("from Accounts select Owner", null, Token));
        await Assert.ThrowsAsync<InvalidQueryException>(() => Store.PatchByQueryAsync("from Accounts", null, Token));
    }

    [Fact]
    public async Task Operations_tell_how_far_they_are_and_end_between_batches_when_cancelled()
    {
        await FillAsync(250);
        using DocumentSession session = _database.OpenSession();
        IDocumentQueryable<Account> even = session.Query<Account>().Where(account => account.Owner == "even");
        var told = new Told();
        var options = new OperationOptions { Progress = told, BatchDocuments = 50 };
        Assert.Equal(125, await Store.PatchByQueryAsync(even, patch => patch.Set(a => a.State, "seen"), options, Token));
        Assert.Equal([new(50, 50, 125), new(100, 100, 125), new(125, 125, 125)], told.Steps);

        told.Steps.Clear();
        Assert.Equal(0, await Store.PatchByQueryAsync(even, patch => patch.Set(a => a.State, "seen"), options, Token));
        Assert.Equal(new QueryChangeProgress(125, 0, 125), told.Steps[^1]);

        using var stop = new CancellationTokenSource();
        var cancelling = new Told(stop);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Store.DeleteByQueryAsync(
            even.ToRql(), options with { Progress = cancelling }, stop.Token));
        Assert.Equal([new(50, 50, 125)], cancelling.Steps);
        Assert.Equal(75, await even.CountAsync(Token));

        Assert.Equal(75, await Store.DeleteByQueryAsync(even.ToRql(), cancellationToken: Token));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            () => Store.DeleteByQueryAsync(even.ToRql(), new OperationOptions { BatchDocuments = 0 }, Token));
    }

    [Fact]
    public async Task Holes_of_an_interpolated_text_are_parameters_whatever_is_in_them()
    {
        await FillAsync(20);
        string hostile = "x' or true or Owner = '";
        string[] owners = ["even"];
        Assert.Equal(0, await Store.DeleteByQueryAsync($"from Accounts where Owner = {hostile}", Token));
        Assert.Equal(0, await _database.DeleteByQueryAsync($"from Accounts where Owner = {hostile}", Token));
        Assert.Equal(
            0,
            await Store.DeleteByQueryAsync(
                $"from Accounts where Owner = {hostile} and Balance = $balance", new { balance = 10 }, Token));
        await Assert.ThrowsAsync<ArgumentException>(
            () => Store.DeleteByQueryAsync($"from Accounts where Owner = '{hostile}'", Token));
        await Assert.ThrowsAsync<ArgumentException>(
            () => Store.DeleteByQueryAsync($"from Accounts where Owner = '{hostile}'", new { balance = 10 }, Token));
        await Assert.ThrowsAsync<ArgumentException>(
            () => _database.DeleteByQueryAsync($"from Accounts where Owner = {hostile}", new { p0 = "even" }, Token));
        using (DocumentSession session = _database.OpenSession())
        {
            Assert.Empty(await session.QueryAsync<Account>($"from Accounts where Owner = {hostile}", cancellationToken: Token));
            Assert.Equal(
                10,
                (await session.QueryAsync<Account>(
                    $"from Accounts where Owner in ({owners}) and Balance = $b", new { b = 10 }, cancellationToken: Token))
                    .Count);
            await Assert.ThrowsAsync<ArgumentException>(
                () => session.QueryAsync<Account>($"from Accounts where Owner = '{hostile}'", cancellationToken: Token));
        }

        // Without an engine for scripts the query is taken as far as to the script.
        await Assert.ThrowsAsync<ArgumentException>(
            () => Store.PatchByQueryAsync($"from Accounts where Owner = '{hostile}' update {{ }}", Token));
        await Assert.ThrowsAsync<ArgumentException>(
            () => _database.PatchByQueryAsync($"from Accounts where Owner = '{hostile}' update {{ }}", new { b = 1 }, Token));
        Assert.Equal(10, await Store.DeleteByQueryAsync($"from Accounts where Owner in ({owners})", Token));
        Assert.Equal(10, await _database.DeleteByQueryAsync($"from Accounts where Balance = {10m}", Token));
    }

    [Fact]
    public async Task A_store_takes_session_options_wherever_it_needs_reflection_without_them()
    {
        SessionOptions options = _database.DefaultSession with { CollectionOf = type => "Own" + type.Name };
        await using (ObjectInsert insert = Store.BulkInsert(options))
        {
            for (int i = 0; i < 4; i++)
                await insert.StoreAsync(new Account { Balance = i }, cancellationToken: Token);
        }

        Store.Deploy(options, []);
        Assert.Equal(
            2,
            await Store.PatchByQueryAsync<Account>(
                account => account.Balance > 1, patch => patch.Set(account => account.State, "rich"), options, Token));
        Assert.Equal(2, await Store.DeleteByQueryAsync<Account>(account => account.State == "rich", options, Token));
        Assert.Equal(0, await Store.DeleteByQueryAsync<Account>(account => account.Balance >= 0, Token)); // in Accounts
        Assert.Equal(2, await Store.DeleteByQueryAsync("from OwnAccount", Token));
    }

    [Fact]
    public async Task Parameters_need_no_reflection()
    {
        await FillAsync(40);
        using var json = JsonDocument.Parse("""{"owners":["odd"],"ids":["accounts/1","accounts/3","accounts/4"]}""");
        Assert.Equal(
            2, await Store.DeleteByQueryAsync("from Accounts where id() in ($ids) and Owner in ($owners)", json.RootElement, Token));
        Dictionary<string, object?> values = new()
        {
            ["owner"] = "odd",
            ["$balances"] = new List<object> { 10, 10.5, 11m, 12L },
            ["node"] = new JsonArray("accounts/5"),
        };
        Assert.Equal(
            1,
            await Store.DeleteByQueryAsync(
                "from Accounts where Owner = $owner and Balance in ($balances) and id() in ($node)", values, Token));
        await Assert.ThrowsAsync<NotSupportedException>(() => Store.DeleteByQueryAsync(
            "from Accounts where Owner = $owner", new Dictionary<string, object?> { ["owner"] = new Account() }, Token));
        await Assert.ThrowsAsync<NotSupportedException>(() => Store.PatchByQueryAsync(
            "from Accounts where Owner = $owner update { }", new Dictionary<string, object?> { ["owner"] = new Account() }, Token));
        Assert.Equal(37, await Store.DeleteByQueryAsync("from Accounts", Token));
    }

    [Fact]
    public async Task Transfers_of_many_at_once_lose_and_make_nothing()
    {
        await FillAsync(4);
        await Parallel.ForEachAsync(Enumerable.Range(0, 100), Token, async (i, token) => await Store.RunAsync(
            async session =>
            {
                Account from = (await session.LoadAsync<Account>($"accounts/{i % 4}", token))!; // filled above
                Account to = (await session.LoadAsync<Account>($"accounts/{(i + 1) % 4}", token))!; // filled above
                (from.Balance, to.Balance) = (from.Balance - 1, to.Balance + 1);
            },
            token));
        using DocumentSession check = _database.OpenSession();
        Assert.Equal([10m, 10m, 10m, 10m], check.LoadStartingWith<Account>("accounts/").Select(account => account.Balance));
    }

    [Fact]
    public async Task A_transaction_sees_no_state_that_it_only_read_change()
    {
        await FillAsync(2);
        int runs = 0;
        await Store.RunAsync(
            async session =>
            {
                runs++;
                Account read = (await session.LoadAsync<Account>("accounts/0", Token))!; // filled above
                bool isThere = await session.LoadAsync<Account>("accounts/new", Token) is not null;
                Account written = (await session.LoadAsync<Account>("accounts/1", Token))!; // filled above
                written.Owner = $"{read.Owner} {isThere}";
                if (runs <= 2)
                {
                    using DocumentSession other = _database.OpenSession();
                    if (runs == 1)
                        other.Load<Account>("accounts/0")!.Owner = "changed"; // filled above
                    else
                        other.Store(new Account { Id = "accounts/new" });
                    await other.SaveChangesAsync(Token);
                }
            },
            Token);
        using DocumentSession check = _database.OpenSession();
        Assert.Equal((3, "changed True"), (runs, check.Load<Account>("accounts/1")?.Owner));
        await Assert.ThrowsAsync<FormatException>(() => Store.RunAsync(_ => throw new FormatException(), Token));
    }

    [Fact]
    public async Task A_feed_gives_every_document_that_was_written_and_deleted()
    {
        var seen = new ConcurrentDictionary<string, DocumentChange>();
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Token);
        long last = 0;
        Task reader = Task.Run(
            async () =>
            {
                await foreach (DocumentChange change in Store.ChangesAsync(
                    new ChangesOptions { AfterEtag = 0, Collection = "Accounts" }, Token))
                {
                    Assert.True(change.Etag > last);
                    last = change.Etag;
                    seen[change.Id] = change;
                    if (change.Id == "accounts/last")
                        return;
                }
            },
            Token);
        await FillAsync(3_000);
        await Store.DeleteByQueryAsync<Account>(account => account.Owner == "odd", Token);
        await SaveAsync("accounts/last");
        await reader;
        Assert.Equal(1_501, seen.Values.Count(change => !change.IsDeletion));
        Assert.All(
            seen.Values.Where(change => change.IsDeletion), change => Assert.Equal(1, int.Parse(change.Id[9..], null) % 2));
    }

    [Fact]
    public async Task A_feed_is_limited_to_what_is_asked_for_and_ends_with_its_token_or_the_store()
    {
        await SaveAsync("accounts/1");
        var ids = new ConcurrentQueue<string>();
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Token);
        IAsyncEnumerable<DocumentChange> feed = Store.ChangesAsync(new ChangesOptions { IdPrefix = "ACCOUNTS/x" }, stop.Token);
        Task reader = Task.Run(
            async () =>
            {
                await foreach (DocumentChange change in feed)
                    ids.Enqueue(change.Id);
            },
            Token);
        Task own = Task.Run(
            async () =>
            {
                await foreach (DocumentChange change in Store.ChangesAsync(
                    new ChangesOptions { AfterEtag = 0, DocumentId = "accounts/X2" }, Token))
                    ids.Enqueue("own " + change.Id);
            },
            Token);
        await SaveAsync("accounts/x1");
        await SaveAsync("accounts/2");
        await SaveAsync("accounts/x2");
        await Eventually.TrueAsync(() => ids.Count == 3, "both feeds have given theirs");
        Assert.Equal(["accounts/x1", "accounts/x2", "own accounts/x2"], ids.Order());
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reader);
        _database.Dispose();
        await own;
    }

    [Fact]
    public async Task A_store_disposed_under_load_keeps_what_it_acknowledged()
    {
        var acknowledged = new ConcurrentBag<string>();
        using var started = new CountdownEvent(8);
        Task[] writers =
        [
            .. Enumerable.Range(0, 8).Select(writer => Task.Run(
                async () =>
                {
                    for (int i = 0; ; i++)
                    {
                        string id = $"accounts/{writer}-{i}";
                        try
                        {
                            await SaveAsync(id);
                            acknowledged.Add(id);
                        }
                        catch (Exception error)
                            when (error is ObjectDisposedException or TreepieException or OperationCanceledException)
                        {
                            return;
                        }

                        if (i == 10)
                            started.Signal();
                    }
                },
                Token)),
        ];
        started.Wait(Token);
        await _database.DisposeAsync();
        await Task.WhenAll(writers);
        using Database again = Database.Open(_directory.Path);
        using DocumentSession session = again.OpenSession();
        Assert.All(acknowledged, id => Assert.True(session.Advanced.Exists(id)));
        Assert.True(acknowledged.Count > 80);
    }

    private long OtherDocuments()
    {
        using DatabaseSnapshot snapshot = _database.BeginRead();
        return snapshot.Collections()
            .Where(collection => collection.Name != "Accounts")
            .Sum(collection => collection.DocumentCount);
    }

    private async Task SaveAsync(string id)
    {
        using DocumentSession session = _database.OpenSession();
        session.Store(new Account { Id = id });
        await session.SaveChangesAsync(Token);
    }

    private async Task FillAsync(int count)
    {
        await using ObjectInsert insert = Store.BulkInsertObjects();
        for (int i = 0; i < count; i++)
            await insert.StoreAsync(
                new Account { Id = $"accounts/{i}", Owner = i % 2 == 0 ? "even" : "odd", Balance = 10 },
                cancellationToken: Token);
        await insert.CompleteAsync(Token);
    }

    private sealed class Account
    {
        public string? Id { get; set; }

        public string? Owner { get; set; }

        public string? State { get; set; }

        public decimal Balance { get; set; }
    }

    /// <summary>Keeps what an operation tells, at once, and cancels it after the first time if it is given the means.</summary>
    private sealed class Told(CancellationTokenSource? stop = null) : IProgress<QueryChangeProgress>
    {
        public List<QueryChangeProgress> Steps { get; } = [];

        public void Report(QueryChangeProgress value)
        {
            Steps.Add(value);
            stop?.Cancel();
        }
    }
}
