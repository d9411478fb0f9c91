using System.Net.Http.Json;
using System.Text.Json;
using Treepie.Encryption;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary><c>treepie key</c>, and what other commands do with keys, against a real server and on its files.</summary>
public sealed class KeyCommandsTests : IDisposable
{
    private readonly TemporaryDirectory _files = new();

    private string Data => Path.Combine(_files.Path, "data");

    private string Shop => Path.Combine(Data, "databases", "shop");

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task A_database_is_made_locked_opened_rekeyed_encrypted_anew_and_salvaged()
    {
        string first = await NewKeyAsync("first.key"),
            second = await NewKeyAsync("second.key"),
            third = await NewKeyAsync("third.key"),
            master = await NewKeyAsync("master.key");
        await using (ServerProcess server = await ServerProcess.StartAsync(Data, "--master-key", master))
        {
            await SucceedAsync(server, "databases", "create", "shop", "--encrypted", "--key", first);
            await FillAsync(server);
            Assert.Contains(
                "already", await FailAsync(2, server, "databases", "create", "shop", "--encrypted", "--key", second),
                StringComparison.Ordinal);
            Assert.Contains(
                "open with another key", await FailAsync(1, server, "key", "give", "-d", "shop", "--key", second),
                StringComparison.Ordinal);
            await SucceedAsync(server, "key", "change", "-d", "shop", "--new-key", second);
            Assert.Contains(
                "encrypted anew", await SucceedAsync(server, "key", "rotate", "-d", "shop"), StringComparison.Ordinal);
            Assert.Equal(0, await server.StopAsync());
        }

        await using (ServerProcess server = await ServerProcess.StartAsync(Data)) // without the master key
        {
            Assert.Contains(
                "whose master key is not set", await FailAsync(1, server, "export", "-d", "shop"), StringComparison.Ordinal);
            Assert.Contains(
                "there is no master key", await FailAsync(1, server, "key", "give", "-d", "shop", "--key", second),
                StringComparison.Ordinal);
            Assert.Contains(
                "does not open", await FailAsync(1, server, "key", "give", "-d", "shop", "--key", first, "--until-restart"),
                StringComparison.Ordinal);
            await SucceedAsync(server, "key", "give", "-d", "shop", "--key", second, "--until-restart");
            Assert.Equal(100, await CountAsync(server));
            Assert.Equal(0, await server.StopAsync());
        }

        Assert.Contains("is encrypted", await FailAsync(2, null, "check", Data), StringComparison.Ordinal);
        await FailAsync(2, null, "check", Shop, "--key", first);
        await SucceedAsync(null, "check", Data, "--master-key", master);
        await SucceedAsync(null, "check", Data, "--master-key", master, "--database-key", $"shop={second}");
        await FailAsync(2, null, "key", "change", Shop, "--key", first, "--new-key", third);
        await SucceedAsync(null, "key", "change", Shop, "--key", second, "--new-key", third);
        await SucceedAsync(null, "key", "rotate", Shop, "--key", third);
        Assert.Contains(
            ": clean", (await CommandLineProcess.SucceedAsync("check", Shop, "--key", third)).Output, StringComparison.Ordinal);
        Assert.Contains(
            "another environment", await FailAsync(2, null, "check", Data, "--master-key", master), StringComparison.Ordinal);
        KeepBoth(master, second, third); // as a server does that is killed while it changes the key
        await SucceedAsync(null, "check", Data, "--master-key", master);

        string target = Path.Combine(_files.Path, "saved");
        await FailAsync(2, null, "salvage", Shop, target, "--key", second);
        Assert.False(Directory.Exists(target));
        await SucceedAsync(null, "salvage", Data, target, "--master-key", master, "--database-key", $"shop={third}");
        await using ServerProcess saved = await ServerProcess.StartAsync(target, "--database-key", $"shop={third}");
        Assert.Equal(100, await CountAsync(saved));
    }

    [Fact]
    public async Task Bad_keys_and_sources_are_told_before_anything_is_done_and_never_quoted()
    {
        const string Secret = "3q2+78r+ur6tvu/K/rq+re++78r+ur6tvu/K/rq+re8=";
        string open = Path.Combine(_files.Path, "open.key"), key = await NewKeyAsync("good.key");
        File.WriteAllText(open, Secret);
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(open, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.OtherRead);
        await using ServerProcess server = await ServerProcess.StartAsync(Data);
        (string[] Arguments, string Why)[] wrong =
        [
            (["key", "generate", Path.Combine(_files.Path, "good.key")], "only copy"),
            (["key", "give", "-d", "shop", "--url", server.Url, "--key", Secret], "never given itself"),
            (["key", "give", "-d", "shop", "--url", server.Url, "--key", $"file:{open}"], "chmod 600"),
            (["key", "give", "-d", "shop", "--url", server.Url, "--key", $"passphrase-file:"
                + $"{open.Replace("open", "good", StringComparison.Ordinal)}"], "no passphrases"),
            (["key", "give", "-d", "shop", "--url", server.Url, "--key", "ask"], "There is no terminal"),
            (["key", "give", "-d", "shop", "--url", server.Url], "--key"),
            (["key", "change", "--new-key", key], "Give the directory of a database"),
            (["databases", "create", "shop", "--key", key, "--url", server.Url], "say --encrypted too"),
            (["check", Data, "--database-key", Secret], "by where it is"),
        ];
        foreach ((string[] arguments, string why) in wrong)
        {
            CommandLineProcess run = await CommandLineProcess.RunAsync(arguments);
            Assert.True(run.ExitCode == 2, $"{string.Join(' ', arguments)}: {run.ExitCode} {run.Error}");
            Assert.Contains(why, run.Error, StringComparison.Ordinal);
            Assert.DoesNotContain(Secret, run.Error + run.Output, StringComparison.Ordinal);
        }

        using JsonDocument names = JsonDocument.Parse(
            await server.Http.GetStringAsync("/databases?namesOnly=true", TestContext.Current.CancellationToken));
        Assert.Equal(0, names.RootElement.GetProperty("Databases").GetArrayLength());
    }

    private static async Task FillAsync(ServerProcess server)
    {
        var commands = Enumerable.Range(1, 100).Select(number => new Dictionary<string, object>
        {
            ["Type"] = "PUT",
            ["Id"] = $"orders/{number}",
            ["Document"] = new Dictionary<string, object>
            {
                ["Number"] = number,
                ["@metadata"] = new Dictionary<string, object> { ["@collection"] = "Orders" }
            },
        });
        using HttpResponseMessage response = await server.Http.PostAsJsonAsync(
            "/databases/shop/bulk_docs", new { Commands = commands }, JsonSerializerOptions.Default,
            TestContext.Current.CancellationToken);
        response.EnsureSuccessStatusCode();
        Assert.Equal(100, await CountAsync(server));
    }

    private static async Task<int> CountAsync(ServerProcess server)
    {
        CommandLineProcess query = await CommandLineProcess.SucceedAsync(
            "query", "from Orders where Number > 0", "-d", "shop", "--wait", "-f", "json", "--url", server.Url);
        using JsonDocument answer = JsonDocument.Parse(query.Output);
        return answer.RootElement.GetProperty("TotalResults").GetInt32();
    }

    private static async Task<string> SucceedAsync(ServerProcess? server, params string[] arguments) =>
        (await CommandLineProcess.SucceedAsync(server is null ? arguments : [.. arguments, "--url", server.Url])).Error;

    private static async Task<string> FailAsync(int exitCode, ServerProcess? server, params string[] arguments)
    {
        CommandLineProcess run = await CommandLineProcess.RunAsync(
            server is null ? arguments : [.. arguments, "--url", server.Url]);
        Assert.True(run.ExitCode == exitCode, $"{string.Join(' ', arguments)}: {run.ExitCode}\n{run.Output}{run.Error}");
        return run.Error;
    }

    private async Task<string> NewKeyAsync(string name)
    {
        string path = Path.Combine(_files.Path, name);
        await CommandLineProcess.SucceedAsync("key", "generate", path);
        return $"file:{path}";
    }

    private void KeepBoth(string master, string current, string next)
    {
        using SecretStore store = SecretStore.Open(Data, KeySource.Parse(master));
        using EncryptionKey first = KeySource.Parse(current).Read(), second = KeySource.Parse(next).Read();
        store.Put("shop", first, second);
    }
}
