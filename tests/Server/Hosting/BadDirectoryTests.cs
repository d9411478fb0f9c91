using System.Net;
using System.Text.Json;
using Treepie.Server.Hosting;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Hosting;

/// <summary>
/// Data directories that are full, read-only, or hold something else: errors that say so over HTTP or at the start, and no more
/// harm than that.
/// </summary>
public sealed class BadDirectoryTests
{
    [Theory]
    [InlineData("tmpfs")]
    [InlineData("ext4")]
    public async Task On_a_full_disk_a_put_is_an_error_that_says_so_reads_and_deletes_work_and_then_puts_again(string kind)
    {
        using SmallFileSystem disk = SmallFileSystem.Mount(kind, 12);
        await using TestServer server = await TestServer.StartAsync(options => options.DataDirectory = disk.Path);
        string json = $$"""{"text":"{{new string('x', 40_000)}}"}""";
        int written = 0;
        while (true)
        {
            using HttpResponseMessage put = await server.SendAsync(HttpMethod.Put, $"docs?id=users/{written}", json);
            if (put.StatusCode != HttpStatusCode.Created)
            {
                string message = await TestServer.ErrorOf(put, HttpStatusCode.InternalServerError, ".RavenException");
                Assert.DoesNotContain(disk.Path, message, StringComparison.Ordinal); // where the files are is the owner's to know
                Assert.Contains("Free some space", message, StringComparison.Ordinal);
                break;
            }

            Assert.True(++written < 1000, "The disk does not fill up.");
        }

        Assert.Equal(written, await server.CountAsync());
        for (int i = 0; i < written; i++)
        {
            JsonElement loaded = await server.GetAsync($"docs?id=users/{i}");
            Assert.Equal(40_000, loaded.GetProperty("Results")[0].GetProperty("text").GetString()?.Length);
        }

        for (int i = 0; i < written / 2; i++)
        {
            using HttpResponseMessage delete = await server.SendAsync(HttpMethod.Delete, $"docs?id=users/{i}");
            Assert.Equal(HttpStatusCode.NoContent, delete.StatusCode);
        }

        for (int i = 0; i < written / 4; i++)
            await server.PutAsync($"again/{i}", json);
        Assert.Equal(written - (written / 2) + (written / 4), await server.CountAsync());
    }

    [Fact]
    public async Task On_a_read_only_disk_the_server_does_not_start_and_names_the_directory()
    {
        using SmallFileSystem disk = SmallFileSystem.Mount("tmpfs", 12);
        using (var input = new LineInput())
        {
            (Task<int> run, string _, StringWriter _) = await RunningProgram.StartAsync(input, "--data", disk.Path);
            input.Send("q");
            Assert.Equal(ExitCodes.Success, await run);
        }

        disk.MakeReadOnly();
        var error = new StringWriter();
        int exitCode = await new ServerProgram(TextReader.Null, TextWriter.Null, error).RunAsync(
            ["--data", disk.Path, "--urls", "http://127.0.0.1:0"], TestContext.Current.CancellationToken);
        Assert.Equal(ExitCodes.CannotStart, exitCode);
        Assert.StartsWith("Cannot start: ", error.ToString(), StringComparison.Ordinal);
        Assert.Contains(disk.Path, error.ToString(), StringComparison.Ordinal);
        Assert.Contains("ead-only", error.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("other things", "is not a database and is not empty")]
    [InlineData("a foreign data file", "is not a data file of this store")]
    [InlineData("a data file that is cut short", "is cut short")]
    public async Task A_database_directory_with_something_else_in_it_is_an_error_of_that_database_alone_and_nothing_in_it_is_changed(string what, string words)
    {
        using var directory = new TemporaryDirectory();
        string folder = Path.Combine(directory.Path, "databases", "bad"),
            data = Path.Combine(folder, "documents", "data.treepie");
        await using (Database made = Database.Open(folder))
            await made.WriteAsync(new Treepie.Writes.WriteBatch().Put("users/1", "{}"u8.ToArray()), TestServer.Cancelled);
        switch (what)
        {
            case "other things":
                Directory.Delete(folder, recursive: true);
                Directory.CreateDirectory(folder);
                await File.WriteAllTextAsync(Path.Combine(folder, "letter.txt"), "Dear all,", TestServer.Cancelled);
                break;
            case "a foreign data file":
                await File.WriteAllTextAsync(data, new string('x', 100_000), TestServer.Cancelled);
                break;
            default:
                byte[] bytes = await File.ReadAllBytesAsync(data, TestServer.Cancelled);
                await File.WriteAllBytesAsync(data, bytes[..(4 * 8192)], TestServer.Cancelled);
                break;
        }

        Dictionary<string, byte[]> before = Files();
        await using (TestServer server = await TestServer.StartAsync(options => options.DataDirectory = directory.Path))
        {
            for (int i = 0; i < 2; i++)
            {
                using HttpResponseMessage get = await server.SendAsync(HttpMethod.Get, "/databases/bad/docs?id=users/1");
                string message = await TestServer.ErrorOf(get, HttpStatusCode.InternalServerError, ".RavenException");
                Assert.DoesNotContain(folder, message, StringComparison.Ordinal);
                Assert.Contains(words, message, StringComparison.Ordinal);
            }

            await server.PutAsync("users/1", "{}"); // in the other one
            Assert.Equal(1, await server.CountAsync());
        }

        Dictionary<string, byte[]> after = Files();
        Assert.Equal(before.Keys.Order(), after.Keys.Order());
        Assert.All(before, file => Assert.Equal(file.Value, after[file.Key]));

        Dictionary<string, byte[]> Files() =>
            Directory.GetFiles(folder, "*", SearchOption.AllDirectories).ToDictionary(file => file, File.ReadAllBytes);
    }
}
