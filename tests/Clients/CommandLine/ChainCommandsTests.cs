using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Treepie.Indexes;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary>
/// Chains of snapshots, increments and logs from the command line, which finds out at the place where they end and what leads to
/// a moment.
/// </summary>
[Collection(RunningServer.Collection)]
public sealed class ChainCommandsTests(RunningServer server) : IDisposable
{
    /// <summary>Number of the last of the changes that are made one after the other.</summary>
    private const int LastChange = 5;

    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string Place => Path.Combine(server.Backups, Path.GetFileName(_files.Path));

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task A_chain_of_a_server_is_made_listed_verified_and_restored_to_a_commit_without_keeping_anything_in_mind()
    {
        string name = await server.NewDatabaseAsync(), key = await KeyFileAsync();
        var commits = new List<long>();
        foreach ((
            string kind,
            string expected) in ((string, string)[])
            [
                ("log", "a snapshot"), ("log", "a stretch of the log"), ("incremental", "an increment"),
                ("log", "a stretch of the log"), ("log", "a stretch of the log")
            ])
        {
            await server.PutAsync(name, $"users/{commits.Count + 1}", "Users", "Ada");
            string said =
                (await RunAsync(
                    "backup", "-d", name, "--kind", kind, "--to", Place, "--key", "file:" + key, "--url", server.Url)).Error;
            Assert.Contains(expected, said, StringComparison.Ordinal);
            commits.Add(long.Parse(Regex.Match(said, @"commit (\d+)").Groups[1].Value, CultureInfo.InvariantCulture));
        }

        Assert.Contains(
            "Nothing has changed",
            (await RunAsync(
                "backup", "-d", name, "--kind", "log", "--to", Place, "--key", "file:" + key, "--url", server.Url)).Error,
            StringComparison.Ordinal);
        string list = (await RunAsync("backups", "list", "--at", Place)).Output;
        Assert.Contains($"each commit from {commits[0]} ", list, StringComparison.Ordinal);
        Assert.Contains($"to {commits[^1]} ", list, StringComparison.Ordinal);
        Assert.DoesNotContain("missing", list, StringComparison.Ordinal);
        Assert.Contains(
            "whole: 5 documents", (await RunAsync("verify", "--from", Place, "--key", "file:" + key)).Output,
            StringComparison.Ordinal);
        Assert.Contains(
            "content hash",
            (await RunAsync("verify", "--from", Place, "--commit", Text(commits[0]), "--key", "file:" + key)).Output,
            StringComparison.Ordinal);
        Assert.Contains(
            "whole: 3 documents",
            (await RunAsync("verify", "--from", Place, "--commit", Text(commits[2]), "--key", "file:" + key)).Output,
            StringComparison.Ordinal);

        string directory = Path.Combine(_files.Path, "directory");
        Assert.Contains(
            "2 documents",
            (await RunAsync(
                "restore", "--from", Place, "--commit", Text(commits[1]), "--directory", directory, "--plain", "--key",
                "file:" + key)).Error,
            StringComparison.Ordinal);
        await using (Database restored = Database.Open(directory))
            Assert.Equal(2, restored.GetStatistics().DocumentCount);
        string summary =
            (await RunAsync(
                "restore", "--from", Place, "-d", name + "-again", "--plain", "--key", "file:" + key, "--url", server.Url)).Error;
        Assert.Contains("5 documents", summary, StringComparison.Ordinal);
        Assert.NotNull(await server.LoadAsync(name + "-again", "users/5"));
        await RunAsync(
            "restore", "--from", Place, "-d", name + "-then", "--plain", "--commit", Text(commits[3]), "--key", "file:" + key,
            "--url", server.Url);
        Assert.NotNull(await server.LoadAsync(name + "-then", "users/4"));
        Assert.Null(await server.LoadAsync(name + "-then", "users/5"));
    }

    [Fact]
    public async Task A_time_leads_to_the_last_commit_before_it_and_what_is_missing_is_named()
    {
        string source = Path.Combine(_files.Path, "shop");
        DateTime between = default;
        for (int step = 0; step < 4; step++)
        {
            await using (Database database = Database.Open(source))
            {
                for (int i = 0; i < 5; i++)
                {
                    await database.WriteAsync(
                        new WriteBatch(database.Options).Put(
                            string.Create(CultureInfo.InvariantCulture, $"users/{(5 * step) + i}"), "{}"u8.ToArray()),
                        Cancel);
                    await WaitForNextMillisecondAsync();
                    if (step == 2 && i == 2)
                        between = DateTime.UtcNow;
                    await WaitForNextMillisecondAsync();
                }
            }

            await RunAsync("backup", "--directory", source, "--kind", "log", "--to", Place);
        }

        string at = between.ToString("O", CultureInfo.InvariantCulture);
        Assert.Contains(
            "13 documents",
            (await RunAsync("restore", "--from", Place, "--at", at, "--directory", Path.Combine(_files.Path, "a"))).Error,
            StringComparison.Ordinal);
        foreach (string card in Directory.GetFiles(Path.Combine(Place, "shop"), "*.card"))
            File.Delete(card);
        Assert.Contains(
            "13 documents",
            (await RunAsync("restore", "--from", Place, "--at", at, "--directory", Path.Combine(_files.Path, "b"))).Error,
            StringComparison.Ordinal);

        string[] logs = [.. Directory.GetFiles(Path.Combine(Place, "shop"), "*.ravendb-log").Order(StringComparer.Ordinal)];
        File.Delete(logs[1]);
        string list = (await RunAsync("backups", "list", "--at", Place)).Output;
        Assert.Contains($"missing: 'shop/{Path.GetFileName(logs[2])}' continues commit", list, StringComparison.Ordinal);
        CommandLineProcess gap = await CommandLineProcess.RunAsync(
            "restore", "--from", Place, "--at", at, "--directory", Path.Combine(_files.Path, "c"));
        Assert.Equal(2, gap.ExitCode);
        Assert.Contains("the log between is missing", gap.Error, StringComparison.Ordinal);
        CommandLineProcess early = await CommandLineProcess.RunAsync(
            "restore", "--from", Place, "--at", "2001-01-01", "--directory", Path.Combine(_files.Path, "c"));
        Assert.Contains("is before the earliest part", early.Error, StringComparison.Ordinal);
        Assert.False(Directory.Exists(Path.Combine(_files.Path, "c")));
        foreach (string[] wrong in (string[][])
        [
            ["restore", "--from", Place, "--at", "noon", "--directory", "x"],
            ["restore", "a", "--commit", "1", "--directory", "x"], ["verify", "--from", Place, "--at", at, "--commit", "1"],
            ["backup", "--directory", source, "--kind", "log", "-o", "x"]
        ])
            Assert.Equal(2, (await CommandLineProcess.RunAsync(wrong)).ExitCode);
    }

    [Fact]
    public async Task A_restore_of_a_chain_that_is_killed_leaves_no_database_and_the_next_one_makes_it()
    {
        string source = Path.Combine(_files.Path, "shop"),
            target = Path.Combine(_files.Path, "restored"),
            unfinished = Path.Combine(_files.Path, "~restoring-restored");
        for (int step = 0; step < 3; step++)
        {
            await using (Database database = Database.Open(source))
            {
                await using BulkInsert bulk = database.BulkInsert();
                for (int i = 0; i < 8_000; i++)
                    await bulk.StoreAsync(
                        string.Create(CultureInfo.InvariantCulture, $"a/{(step * 8_000) + i}"),
                        Encoding.UTF8.GetBytes(
                            $"{{\"n\":{i},\"text\":\"{Convert.ToHexString(Guid.NewGuid().ToByteArray())}"
                                + $"{new string('x', 200)}\"}}"),
                        Cancel);
                await bulk.CompleteAsync(Cancel);
            }

            await RunAsync("backup", "--directory", source, "--kind", step == 1 ? "incremental" : "log", "--to", Place);
        }

        for (int round = 0; round < 4; round++)
        {
            using Process restore = CommandLineProcess.Start("restore", "--from", Place, "--directory", target);
            while (!restore.HasExited && FilesIn(unfinished) <= round)
                await Task.Yield();
            restore.Kill();
            await restore.WaitForExitAsync(Cancel);
            if (!Directory.Exists(target))
                continue;

            // It was done before it was killed, as happens where this process gets its turn late.
            await using (Database done = Database.Open(target))
                Assert.Equal(24_000, done.GetStatistics().DocumentCount);
            Directory.Delete(target, recursive: true);
        }

        await RunAsync("restore", "--from", Place, "--directory", target);
        Assert.False(Directory.Exists(unfinished));
        await using Database restored = Database.Open(target);
        Assert.Equal(24_000, restored.GetStatistics().DocumentCount);
        Assert.Empty(restored.Check(Cancel).Problems);
    }

    [Theory]
    [InlineData("log", true)]
    [InlineData("log", false)]
    [InlineData("incremental", true)]
    [InlineData("incremental", false)]
    public async Task Commits_that_change_no_document_are_backed_up_too_and_only_then_nothing_has_changed(
        string kind, bool ofServer)
    {
        string name = ofServer ? await server.NewDatabaseAsync() : "shop", source = Path.Combine(_files.Path, name);
        string[] backup =
        [
            "backup", .. ofServer ? (string[])["-d", name, "--url", server.Url] : ["--directory", source], "--kind", kind, "--to",
            Place
        ];
        await ChangeAsync(0);
        await RunAsync(backup);
        for (int step = 1; step <= LastChange; step++)
        {
            await ChangeAsync(step);
            string said = (await RunAsync(backup)).Error;
            Assert.DoesNotContain("Nothing has changed", said, StringComparison.Ordinal);
            Assert.Contains(kind == "log" ? "a stretch of the log" : "an increment", said, StringComparison.Ordinal);
        }

        Assert.Contains("Nothing has changed", (await RunAsync(backup)).Error, StringComparison.Ordinal);
        string target = Path.Combine(_files.Path, "restored");
        await RunAsync("restore", "--from", Place, "--directory", target);
        await using Database restored = Database.Open(target);
        Assert.Equal(4, await restored.NextIdentityAsync("users|", Cancel));
        Assert.NotNull(restored.Indexes.Definition("Users/ByName"));
        Assert.Equal(IndexLockMode.LockedError, restored.Indexes.Control.Settings("Users/ByName").LockMode);
        Assert.Equal(TimeSpan.FromSeconds(77), restored.Lifecycle.Get(LifecycleTask.Expiration)?.Frequency);
        using DatabaseSnapshot snapshot = restored.BeginRead();
        Assert.NotNull(snapshot.CompareExchange("key"));

        async Task ChangeAsync(int step)
        {
            if (ofServer)
            {
                await ChangeOverHttpAsync(name, step);
                return;
            }

            await using Database database = Database.Open(source);
            if (step == 0)
                await database.WriteAsync(new WriteBatch(database.Options).Put("users/1", "{}"u8.ToArray()), Cancel);
            else if (step == 1)
                for (int i = 0; i < 3; i++)
                    await database.NextIdentityAsync("users|", Cancel);
            else if (step == 2)
                database.Indexes.Put(
                    new IndexDefinition
                    {
                        Name = "Users/ByName",
                        Collections = ["Users"],
                        Fields = [new IndexFieldDefinition { Name = "name" }]
                    });
            else if (step == 3)
                await database.WriteAsync(
                    new WriteBatch(database.Options).PutCompareExchange("key", "{\"Object\":1}"u8.ToArray(), 0), Cancel);
            else if (step == 4)
                await database.Lifecycle.SetAsync(
                    LifecycleTask.Expiration, new LifecycleSettings { Frequency = TimeSpan.FromSeconds(77) }, Cancel);
            else
                database.Indexes.Control.Set(
                    "Users/ByName", static settings => settings with { LockMode = IndexLockMode.LockedError });
        }
    }

    [Fact]
    public async Task A_database_that_was_restored_under_its_old_name_and_grew_to_the_same_etag_is_not_taken_for_unchanged()
    {
        string source = Path.Combine(_files.Path, "shop");
        await PutAsync("users/1");
        await RunAsync("backup", "--directory", source, "--kind", "log", "--to", Place);
        await PutAsync("users/2");
        await RunAsync("backup", "--directory", source, "--kind", "log", "--to", Place);
        Directory.Delete(source, recursive: true);
        string first = Directory.GetFiles(Path.Combine(Place, "shop"), "*.ravendb-snapshot").Single();
        await RunAsync("restore", "--from", Place, "shop/" + Path.GetFileName(first), "--directory", source);
        await PutAsync("users/other");
        string said = (await RunAsync("backup", "--directory", source, "--kind", "log", "--to", Place)).Error;
        Assert.Contains("a snapshot", said, StringComparison.Ordinal);
        string target = Path.Combine(_files.Path, "restored");
        await RunAsync("restore", "--from", Place, "--directory", target);
        await using Database restored = Database.Open(target);
        using DatabaseSnapshot snapshot = restored.BeginRead();
        Assert.True(snapshot.TryGet("users/other", out _));

        async Task PutAsync(string id)
        {
            await using Database database = Database.Open(source);
            await database.WriteAsync(new WriteBatch(database.Options).Put(id, "{}"u8.ToArray()), Cancel);
        }
    }

    /// <summary>
    /// How many files lie in a folder that another process makes, fills and renames while it is looked at; none where there is no
    /// folder (any more).
    /// </summary>
    private static int FilesIn(string folder)
    {
        try
        {
            return Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories).Count();
        }
        catch (DirectoryNotFoundException)
        {
            return 0;
        }
    }

    private async Task ChangeOverHttpAsync(string name, int step)
    {
        if (step == 0)
        {
            await server.PutAsync(name, "users/1", "Users", "Ada");
        }
        else if (step == 1)
        {
            for (int i = 0; i < 3; i++)
                (await server.Server.Http.PostAsync(
                    $"/databases/{name}/identity/next?name=users|", null, Cancel)).EnsureSuccessStatusCode();
        }
        else if (step == 3)
        {
            await SendAsync(name, HttpMethod.Put, "cmpxchg?key=key&index=0", """{"Object":1}""");
        }
        else if (step == 4)
        {
            await SendAsync(name, HttpMethod.Post, "admin/expiration/config", """{"Disabled":false,"DeleteFrequencyInSec":77}""");
        }
        else if (step == 5)
        {
            await SendAsync(name, HttpMethod.Post, "indexes/set-lock", """{"IndexNames":["Users/ByName"],"Mode":"LockedError"}""");
        }
        else
        {
            const string Index =
                """{"Indexes":[{"Name":"Users/ByName","Maps":["from u in docs.Users select new { u.name }"]}]}""";
            using var body = new StringContent(Index, Encoding.UTF8, "application/json");
            (await server.Server.Http.PutAsync($"/databases/{name}/admin/indexes", body, Cancel)).EnsureSuccessStatusCode();
        }
    }

    private async Task SendAsync(string name, HttpMethod method, string path, string json)
    {
        using var request = new HttpRequestMessage(method, $"/databases/{name}/{path}")
        {
            Content = new StringContent(json, Encoding.UTF8, "application/json"),
        };
        using HttpResponseMessage answer = await server.Server.Http.SendAsync(request, Cancel);
        Assert.True(answer.IsSuccessStatusCode, await answer.Content.ReadAsStringAsync(Cancel));
    }

    private static Task<CommandLineProcess> RunAsync(params string[] arguments) => CommandLineProcess.SucceedAsync(arguments);

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    /// <summary>Commits of one millisecond have one time: what stands between two of them needs two.</summary>
    private static async Task WaitForNextMillisecondAsync()
    {
        for (long now = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds(); now == DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();)
            await Task.Yield();
    }

    private async Task<string> KeyFileAsync()
    {
        string path = Path.Combine(_files.Path, "backup.key");
        await File.WriteAllTextAsync(
            path, Convert.ToBase64String([.. Enumerable.Range(1, 32).Select(value => (byte)value)]), Cancel);
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        return path;
    }
}
