using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Operations;

/// <summary>The number of an operation is for who has drawn it.</summary>
public sealed class DrawnNumbersTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_number_that_one_client_has_drawn_is_used_by_no_other()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        await server.AdministerAsync(HttpMethod.Put, "/admin/databases?name=shop");
        using HttpClient writer = await ClientAsync(server, "ReadWrite"), reader = await ClientAsync(server, "Read");
        using JsonDocument drawn = JsonDocument.Parse(
            await writer.GetStringAsync(Url("operations/next-operation-id"), Cancelled));
        long id = drawn.RootElement.GetProperty("Id").GetInt64();

        Assert.Equal(400, await PostAsync(reader, $"smuggler/export?operationId={id}", "{}"));
        Assert.Equal(204, await PostAsync(writer, $"bulk_insert?id={id}", "[]"));
        Assert.Equal(200, await PostAsync(reader, $"smuggler/export?operationId={id + 1}", "{}")); // chosen, not drawn
    }

    private static Uri Url(string path) => new("/databases/shop/" + path, UriKind.Relative);

    private static async Task<int> PostAsync(HttpClient client, string path, string body)
    {
        using var content = new StringContent(body, Encoding.UTF8, "application/json");
        using HttpResponseMessage response = await client.PostAsync(Url(path), content, Cancelled);
        await response.Content.CopyToAsync(Stream.Null, Cancelled);
        return (int)response.StatusCode;
    }

    private static async Task<HttpClient> ClientAsync(SecuredServer server, string access)
    {
        using JsonDocument made = JsonDocument.Parse(
            await server.AdministerAsync(
                HttpMethod.Post, "/admin/tokens",
                $$"""{"Name":"{{access}}","SecurityClearance":"ValidUser","Permissions":{"shop":"{{access}}"} }"""));
        HttpClient client = server.Client(null);
        client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue(
            "Bearer", made.RootElement.GetProperty("Token").GetString());
        return client;
    }
}
