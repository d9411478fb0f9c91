using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Treepie.Server.Tests.Support;
using Treepie.Store;

namespace Treepie.Server.Tests.Security;

/// <summary>An import sets only what who sends it may set otherwise.</summary>
public sealed class ImportedSettingsTests
{
    private const string Rule = """{"Default":{"Disabled":false,"PurgeOnDelete":true}}""";

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Who_may_write_documents_imports_no_settings_and_an_administrator_does()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        await server.AdministerAsync(HttpMethod.Put, "/admin/databases?name=shop");
        string writer = await TokenAsync(server, "ReadWrite"), admin = await TokenAsync(server, "Admin");
        string[] settings =
        [
            Setting("revisions", Rule), Setting("of-programs/state", """{"Disabled":true,"LockMode":"PreventDeletesError"}"""),
            Setting("expiration", "{}"),
        ];
        string dump = """{"Docs":[{"@metadata":{"@id":"a"}}],"TreepieSettings":["""
            + string.Join(',', settings) + "]}";

        await ImportAsync(server, writer, dump, 41);
        Assert.Equal("null", await RevisionsAsync(server));
        Assert.Equal((1, 0, 3), await TakenAsync(server, 41));

        await ImportAsync(server, admin, dump, 42);
        Assert.Contains("PurgeOnDelete\":true", await RevisionsAsync(server), StringComparison.Ordinal);
        Assert.Equal((1, 1, 2), await TakenAsync(server, 42)); // the state of a database is set by operators, one by one
        await server.RestartAsync("--admin-certificate", server.AdminPath);
        await server.AdministerAsync(HttpMethod.Get, "/databases/shop/docs?id=a");

        await ImportAsync(server, writer, """{"DatabaseRecord":{"Refresh":{"Disabled":false}}}""", 43);
        Assert.DoesNotContain(
            "\"Refresh\":{", await server.AdministerAsync(HttpMethod.Get, "/databases/shop/admin/record"),
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("{}")]
    [InlineData("""{"Disabled":1,"LockMode":"Other"}""")]
    public async Task A_database_whose_state_cannot_be_read_is_enabled_and_can_be_deleted(string state)
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.Catalog.Find("db")!.Settings.SetAsync("state", Encoding.UTF8.GetBytes(state), Cancelled);
        Assert.Equal(0, await server.CountAsync());
        using HttpResponseMessage deleted = await server.SendAsync(
            HttpMethod.Delete, $"{server.Url}/admin/databases", """{"DatabaseNames":["db"],"HardDelete":true}""");
        Assert.Equal(HttpStatusCode.OK, deleted.StatusCode);
        Assert.Null(server.Catalog.Find("db"));
    }

    private static string Setting(string name, string value) =>
        $$"""{"Key":"{{Convert.ToBase64String(KindKey.OfName(Kind.Setting, default, Encoding.UTF8.GetBytes(name)))}}","Name":"{{name}}","Value":"{{Convert.ToBase64String(Encoding.UTF8.GetBytes(value))}}"}""";

    private static async Task<string> TokenAsync(SecuredServer server, string access)
    {
        string made = await server.AdministerAsync(
            HttpMethod.Post, "/admin/tokens",
            $$"""{"Name":"{{access}}","SecurityClearance":"ValidUser","Permissions":{"shop":"{{access}}"} }""");
        using JsonDocument json = JsonDocument.Parse(made);
        return json.RootElement.GetProperty("Token").GetString()!;
    }

    private static async Task ImportAsync(SecuredServer server, string token, string dump, int operation)
    {
        using HttpClient client = server.Client(null);
        client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", token);
        using var form = new MultipartFormDataContent
        {
            { new StringContent("{}"), "importOptions" }, { new ByteArrayContent(Encoding.UTF8.GetBytes(dump)), "name", "blob" }
        };
        using HttpResponseMessage response = await client.PostAsync(
            new Uri($"/databases/shop/smuggler/import?operationId={operation}", UriKind.Relative), form, Cancelled);
        Assert.True(response.IsSuccessStatusCode, await response.Content.ReadAsStringAsync(Cancelled));
    }

    private static async Task<string> RevisionsAsync(SecuredServer server)
    {
        using JsonDocument json = JsonDocument.Parse(
            await server.AdministerAsync(HttpMethod.Get, "/databases/shop/admin/record"));
        return json.RootElement.TryGetProperty("Revisions", out JsonElement revisions) ? revisions.GetRawText() : "null";
    }

    private static async Task<(int Documents, int Settings, int LeftOut)> TakenAsync(SecuredServer server, int operation)
    {
        using JsonDocument json = JsonDocument.Parse(
            await server.AdministerAsync(HttpMethod.Get, $"/databases/shop/operations/state?id={operation}"));
        JsonElement sections = json.RootElement.GetProperty("Result").GetProperty("Sections"),
            settings = sections.GetProperty("TreepieSettings");
        return (
            sections.GetProperty("Documents").GetProperty("Taken").GetInt32(), settings.GetProperty("Taken").GetInt32(),
            settings.GetProperty("LeftOut").GetInt32());
    }
}
