using System.Diagnostics;
using System.Globalization;
using System.Text;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary>
/// <c>backup</c>, <c>restore</c> and <c>verify</c>: of a server and of directories, plain and sealed, killed and run again.
/// </summary>
[Collection(RunningServer.Collection)]
public sealed class BackupCommandsTests(RunningServer server) : IDisposable
{
    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task A_database_of_a_server_is_backed_up_verified_and_restored_to_a_server_and_to_a_directory()
    {
        string name = await server.NewDatabaseAsync(), key = await KeyFileAsync("backup.key", 1);
        for (int i = 1; i <= 20; i++)
            await server.PutAsync(name, $"users/{i}", "Users", $"name {i} marker-91c");
        string plain = PathOf("plain.backup"), closed = PathOf("sealed.backup");
        CommandLineProcess backup = await CommandLineProcess.SucceedAsync(
            "backup", "-d", name, "-o", plain, "--url", server.Url, "--compression", "none");
        Assert.Equal("", backup.Output);
        await CommandLineProcess.SucceedAsync("backup", "-d", name, "-o", closed, "--url", server.Url, "--key", "file:" + key);
        Assert.True((await File.ReadAllBytesAsync(plain, Cancel)).AsSpan().IndexOf("marker-91c"u8) > 0);
        Assert.True((await File.ReadAllBytesAsync(closed, Cancel)).AsSpan().IndexOf("marker-91c"u8) < 0);

        Assert.Contains(
            "whole: 20 documents", (await CommandLineProcess.SucceedAsync("verify", plain)).Output, StringComparison.Ordinal);
        Assert.Contains(
            "sealed", (await CommandLineProcess.SucceedAsync("verify", closed, "--key", "file:" + key)).Output,
            StringComparison.Ordinal);
        CommandLineProcess noKey = await CommandLineProcess.RunAsync("verify", closed);
        Assert.Equal((2, ""), (noKey.ExitCode, noKey.Output));
        Assert.Contains("no key was given", noKey.Error, StringComparison.Ordinal);

        CommandLineProcess taken = await CommandLineProcess.SucceedAsync(
            "restore", plain, "-d", name + "-plain", "--url", server.Url);
        Assert.Contains("Documents: 20 taken, 0 left out", taken.Error, StringComparison.Ordinal);
        CommandLineProcess unsaid = await CommandLineProcess.RunAsync(
            "restore", closed, "-d", name + "-unsaid", "--url", server.Url, "--key", "file:" + key);
        Assert.Equal(2, unsaid.ExitCode);
        Assert.Contains("--plain", unsaid.Error, StringComparison.Ordinal);
        await CommandLineProcess.SucceedAsync(
            "restore", closed, "-d", name + "-sealed", "--plain", "--url", server.Url, "--key", "file:" + key);
        Assert.Equal("name 7 marker-91c", (await server.LoadAsync(name + "-sealed", "users/7"))?.GetProperty("name").GetString());
        CommandLineProcess again = await CommandLineProcess.RunAsync(
            "restore", plain, "-d", name + "-plain", "--url", server.Url);
        Assert.Equal(1, again.ExitCode);
        Assert.Contains("exists already", again.Error, StringComparison.Ordinal);
        CommandLineProcess wrong = await CommandLineProcess.RunAsync(
            "restore", closed, "-d", name + "-x", "--plain", "--url", server.Url, "--key",
            "file:" + await KeyFileAsync("other.key", 2));
        Assert.Equal(2, wrong.ExitCode);
        Assert.Contains("another key", wrong.Error, StringComparison.Ordinal);

        string place = PathOf("directory");
        CommandLineProcess offline = await CommandLineProcess.SucceedAsync(
            "restore", closed, "--directory", place, "--key", "file:" + key, "--directory-key", "file:" + key);
        Assert.Contains("20 documents", offline.Error, StringComparison.Ordinal);
        CommandLineProcess second = await CommandLineProcess.SucceedAsync(
            "backup", "--directory", place, "-o", PathOf("second.backup"), "--directory-key", "file:" + key);
        Assert.Contains("sealed", second.Error, StringComparison.Ordinal);
        Assert.Equal(
            HashOf(offline.Error),
            HashOf((await CommandLineProcess.SucceedAsync("verify", PathOf("second.backup"), "--key", "file:" + key)).Output));
    }

    [Fact]
    public async Task What_killed_runs_left_is_removed_by_the_next_run_of_the_same_file_and_of_the_same_place()
    {
        string source = PathOf("shop"), place = PathOf("place"), file = PathOf("shop.backup");
        await using (Database database = Database.Open(source))
            await database.NextIdentityAsync("users|", Cancel);
        Directory.CreateDirectory(Path.Combine(place, "shop"));
        string[] left =
        [
            file + ".4711.unfinished",
            Path.Combine(place, "shop", "2026-01-01-00-00-00-000.ravendb-full-backup.0123456789abcdef0123456789abcdef.unfinished")
        ];
        foreach (string path in left)
            await File.WriteAllTextAsync(path, "left", Cancel);
        await CommandLineProcess.SucceedAsync("backup", "--directory", source, "-o", file);
        Assert.False(File.Exists(left[0]));
        await CommandLineProcess.SucceedAsync("backup", "--directory", source, "--to", place);
        Assert.False(File.Exists(left[1]));
        await File.WriteAllTextAsync(left[1], "left", Cancel);
        await CommandLineProcess.SucceedAsync("backup", "--directory", source, "--to", place, "--kind", "snapshot");
        Assert.False(File.Exists(left[1]));
    }

    [Fact]
    public async Task A_backup_that_the_server_seals_with_the_key_of_the_database_is_named_and_listed_as_sealed()
    {
        string name = $"closed-{Guid.NewGuid():N}", key = await KeyFileAsync("database.key", 7), place = PathOf("place");
        await CommandLineProcess.SucceedAsync(
            "key", "give", "-d", name, "--key", "file:" + key, "--until-restart", "--url", server.Url);
        await CommandLineProcess.SucceedAsync("databases", "create", name, "--encrypted", "--url", server.Url);
        string said = (await CommandLineProcess.SucceedAsync("backup", "-d", name, "--to", place, "--url", server.Url)).Error;
        Assert.Contains("sealed", said, StringComparison.Ordinal);
        Assert.EndsWith(
            ".ravendb-encrypted-full-backup", Assert.Single(Directory.GetFiles(Path.Combine(place, name))),
            StringComparison.Ordinal);
        Assert.Contains(
            "sealed", (await CommandLineProcess.SucceedAsync("backups", "list", "--at", place)).Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_is_damaged_missing_or_contradictory_is_said_and_leaves_nothing()
    {
        string bad = PathOf("bad.backup");
        await File.WriteAllTextAsync(bad, "{\"Docs\":[{\"a\":1,\"@metadata\":{\"@id\":\"a\"}}", Cancel);
        CommandLineProcess verify = await CommandLineProcess.RunAsync("verify", bad),
            restore = await CommandLineProcess.RunAsync("restore", bad, "--directory", PathOf("there"));
        Assert.Equal((1, "", 1), (verify.ExitCode, verify.Output, restore.ExitCode));
        Assert.Contains("cut off", verify.Error, StringComparison.Ordinal);
        foreach (string[] wrong in (string[][])[
            ["backup", "-o", PathOf("x")], ["backup", "-o", PathOf("x"), "-d", "a", "--directory", "b"],
            ["backup", "--directory", PathOf("absent"), "-o", PathOf("x")],
            ["restore", PathOf("absent"), "-d", "a"], ["backup", "-d", "a", "-o", PathOf("x"), "--compression", "rar"]])
            Assert.Equal(2, (await CommandLineProcess.RunAsync(wrong)).ExitCode);
        CommandLineProcess missing = await CommandLineProcess.RunAsync(
            "backup", "-d", "absent", "-o", PathOf("x"), "--url", server.Url);
        Assert.Equal(1, missing.ExitCode);
        Assert.Contains("There is no such database", missing.Error, StringComparison.Ordinal);
        Assert.Equal(["bad.backup"], Directory.GetFileSystemEntries(_files.Path).Select(Path.GetFileName));
    }

    [Fact]
    public async Task A_restore_killed_in_the_middle_leaves_no_database_and_the_next_one_makes_it()
    {
        string source = PathOf("source"), backup = PathOf("all.backup"), target = PathOf("restored");
        await using (Database database = Database.Open(source))
        {
            await using BulkInsert bulk = database.BulkInsert();
            for (int i = 0; i < 40_000; i++)
                await bulk.StoreAsync(
                    string.Create(CultureInfo.InvariantCulture, $"a/{i}"),
                    Encoding.UTF8.GetBytes($"{{\"n\":{i},\"text\":\"{new string('x', 200)}\"}}"), Cancel);
            await bulk.CompleteAsync(Cancel);
            await database.BackupAsync(backup, null, null, Cancel);
        }

        for (int round = 0; round < 3; round++)
        {
            using Process restore = CommandLineProcess.Start("restore", backup, "--directory", target);
            string unfinished = PathOf("~restoring-restored");
            while (!restore.HasExited && !(Directory.Exists(unfinished) && SizeOf(unfinished) > (round + 1) * 1_000_000))
                await Task.Yield();
            restore.Kill();
            await restore.WaitForExitAsync(Cancel);
            if (!Directory.Exists(target))
                continue;

            // It was done before it was killed, as happens where this process gets its turn late.
            await using (Database done = Database.Open(target))
                Assert.Equal(40_000, done.GetStatistics().DocumentCount);
            Directory.Delete(target, recursive: true);
        }

        await CommandLineProcess.SucceedAsync("restore", backup, "--directory", target);
        Assert.Equal(
            ["all.backup", "restored", "source"], Directory.GetFileSystemEntries(_files.Path).Select(Path.GetFileName).Order());
        await using Database restored = Database.Open(target);
        Assert.Equal(40_000, restored.GetStatistics().DocumentCount);
    }

    private static long SizeOf(string directory)
    {
        try
        {
            return new DirectoryInfo(directory).EnumerateFiles("*", SearchOption.AllDirectories).Sum(file => file.Length);
        }
        catch (IOException)
        {
            return 0; // a file went while it was looked at
        }
    }

    private static string HashOf(string text) => text[(text.IndexOf("content hash ", StringComparison.Ordinal) + 13)..][..64];

    private async Task<string> KeyFileAsync(string name, byte first)
    {
        string path = PathOf(name);
        await File.WriteAllTextAsync(
            path, Convert.ToBase64String([.. Enumerable.Range(first, 32).Select(value => (byte)value)]), Cancel);
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        return path;
    }

    private string PathOf(string name) => Path.Combine(_files.Path, name);
}
