using System.Net;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Treepie.Encryption;
using Treepie.Server.Tests.Support;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Hosting;

/// <summary>What the server writes is its owner's alone, whatever the umask.</summary>
public sealed partial class FileModesTests
{
    private const UnixFileMode OfOthers = (UnixFileMode)0b000_111_111;

    [Fact]
    public async Task Data_journals_indexes_backups_and_secrets_are_closed_to_other_accounts()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "Modes are those of Unix.");
        using var outside = new TemporaryDirectory();
        string data = Path.Combine(outside.Path, "data"),
            backups = Path.Combine(outside.Path, "backups"),
            master = Path.Combine(outside.Path, "master.key");
        using (EncryptionKey key = EncryptionKey.Generate())
            KeyFile.Create(master, key);

        uint before = SetMask(0);
        try
        {
            await using TestServer server = await TestServer.StartAsync(options =>
            {
                options.DataDirectory = data;
                options.Keys = new DatabaseKeySources { MasterKey = KeySource.FromFile(master) };
                options.BackupFolders["place"] = backups;
            });
            await UseAsync(server);
            foreach (string path in Directory.EnumerateFileSystemEntries(outside.Path, "*", SearchOption.AllDirectories))
            {
                UnixFileMode mode = new FileInfo(path).UnixFileMode;
                Assert.True((mode & OfOthers) == 0, $"{path}: {Convert.ToString((int)mode, 8)}");
            }

            Assert.NotEmpty(Directory.EnumerateFiles(backups, "*", SearchOption.AllDirectories));
            Assert.NotEmpty(Directory.EnumerateFiles(Path.Combine(data, "secrets")));
        }
        finally
        {
            _ = SetMask(before);
        }
    }

    private static async Task UseAsync(TestServer server)
    {
        await server.PutAsync("users/1", """{"name":"Ada","@metadata":{"@collection":"Users"}}""");
        using (HttpResponseMessage query = await server.SendAsync(
            HttpMethod.Post, "queries", """{"Query":"from Users where name = 'Ada'"}"""))
            Assert.Equal(HttpStatusCode.OK, query.StatusCode);
        using (HttpResponseMessage key = await server.SendAsync(
            HttpMethod.Post, $"{server.Url}/admin/secrets?name=closed",
            Convert.ToBase64String(RandomNumberGenerator.GetBytes(32))))
            Assert.True(key.StatusCode == HttpStatusCode.Created, await key.Content.ReadAsStringAsync(TestServer.Cancelled));
        using (HttpResponseMessage closed = await server.SendAsync(
            HttpMethod.Put, $"{server.Url}/admin/databases?name=closed", """{"Encrypted":true}"""))
            Assert.Equal(HttpStatusCode.Created, closed.StatusCode);
        using HttpResponseMessage backup = await server.SendAsync(
            HttpMethod.Post, "admin/backup", """{"LocalSettings":{"FolderPath":"place/below"}}""");
        long id = (await TestServer.JsonOf(backup, HttpStatusCode.OK)).GetProperty("OperationId").GetInt64();
        string? status;
        do
            status = (await server.GetAsync($"operations/state?id={id}")).GetProperty("Status").GetString();
        while (status == "InProgress");
        Assert.Equal("Completed", status);
    }

    [LibraryImport("libc", EntryPoint = "umask")]
    private static partial uint SetMask(uint mask);
}
