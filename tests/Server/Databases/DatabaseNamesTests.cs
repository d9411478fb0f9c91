using System.Net;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Databases;

/// <summary>Names that are taken for others: by case, by file systems, by eyes.</summary>
public sealed class DatabaseNamesTests
{
    [Theory]
    [InlineData("con")]
    [InlineData("NUL.txt")]
    [InlineData("lpt1")]
    [InlineData("com0.a.b")]
    [InlineData("a.")]
    [InlineData(".a")]
    [InlineData("sh\u043Ep")] // Cyrillic o
    [InlineData("shop\u0661")] // an Arabic digit
    [InlineData("\uFF53hop")] // a wide s
    public async Task A_name_that_looks_like_another_or_means_something_to_a_system_is_refused(string name)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage create = await server.SendAsync(
            HttpMethod.Put, $"{server.Url}/admin/databases?name={Uri.EscapeDataString(name)}", "{}");
        Assert.Contains(
            name, await TestServer.ErrorOf(create, HttpStatusCode.BadRequest, ".BadRequestException"), StringComparison.Ordinal);
        using HttpResponseMessage key = await server.SendAsync(
            HttpMethod.Post, $"{server.Url}/admin/secrets?keep=false&name={Uri.EscapeDataString(name)}",
            Convert.ToBase64String(new byte[32]));
        await TestServer.ErrorOf(key, HttpStatusCode.BadRequest, ".BadRequestException");
    }

    [Fact]
    public async Task Files_of_a_deleted_database_keep_its_name_whatever_its_case()
    {
        using var directory = new TemporaryDirectory();
        for (int i = 0; i < 8; i++)
        {
            await using var catalog = new DatabaseCatalog(directory.Path);
            catalog.Create($"SHOP{i}");
            Assert.True(catalog.Delete($"shop{i}", deleteFiles: false));
            Assert.Contains(
                $"SHOP{i}", Assert.Throws<ConcurrencyException>(() => catalog.Create($"shop{i}")).Message,
                StringComparison.Ordinal);
        }

        await using var again = new DatabaseCatalog(directory.Path);
        Assert.Equal(8, again.Names.Count);
    }

    [Theory]
    [InlineData("[\"B\"]", HttpStatusCode.BadRequest)]
    [InlineData("[\"A\",\"B\"]", HttpStatusCode.BadRequest)]
    [InlineData("\"A\"", HttpStatusCode.BadRequest)]
    [InlineData("[\"A\"]", HttpStatusCode.OK)]
    [InlineData("[]", HttpStatusCode.OK)]
    [InlineData("null", HttpStatusCode.OK)]
    public async Task The_only_copy_of_a_database_is_not_deleted_as_that_of_another_node(string nodes, HttpStatusCode expected)
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("a", "{}");
        using HttpResponseMessage answer = await server.SendAsync(
            HttpMethod.Delete, $"{server.Url}/admin/databases",
            $$"""{"DatabaseNames":["db"],"HardDelete":true,"FromNodes":{{nodes}}}""");
        Assert.Equal(expected, answer.StatusCode);
        Assert.Equal(expected != HttpStatusCode.OK, server.Catalog.Find("db") is not null);
        if (expected != HttpStatusCode.OK)
            Assert.Equal(1, await server.CountAsync());
    }

    [Fact]
    public async Task Two_folders_whose_names_differ_only_by_case_are_both_left_closed_and_named()
    {
        using var directory = new TemporaryDirectory();
        await using (var catalog = new DatabaseCatalog(directory.Path))
        {
            catalog.Create("shop");
            catalog.Create("other");
        }

        string folder = Path.Combine(directory.Path, "databases");
        await using (Database _ = Database.Open(Path.Combine(directory.Path, "made")))
        {
        }

        Directory.Move(Path.Combine(directory.Path, "made"), Path.Combine(folder, "SHOP"));
        if (Directory.GetDirectories(folder).Length < 3)
            Assert.Skip("The file system of the test does not tell names apart by case.");

        await using var again = new DatabaseCatalog(directory.Path);
        Assert.Equal(2, again.Names.Count);
        Assert.NotNull(again.Find("other"));
        foreach (string name in (string[])["shop", "SHOP", "Shop"])
        {
            string message = Assert.ThrowsAny<TreepieException>(() => again.Find(name)).Message;
            Assert.Contains("'SHOP'", message, StringComparison.Ordinal);
            Assert.Contains("'shop'", message, StringComparison.Ordinal);
        }

        Assert.ThrowsAny<TreepieException>(() => again.Delete("shop", deleteFiles: true));
        Assert.True(Directory.Exists(Path.Combine(folder, "shop")) && Directory.Exists(Path.Combine(folder, "SHOP")));
    }

    [Fact]
    public async Task A_database_of_an_older_version_with_a_name_that_is_refused_now_still_opens()
    {
        using var directory = new TemporaryDirectory();
        await using (Database _ = Database.Open(Path.Combine(directory.Path, "databases", "b\u00FCcher")))
        {
        }

        await using var catalog = new DatabaseCatalog(directory.Path);
        Assert.NotNull(catalog.Find("b\u00FCcher"));
    }
}
