using System.Globalization;
using System.Text;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Fuzz;

/// <summary>Whatever a client sends is answered, is never a failure of the server, and leaves nothing open.</summary>
public sealed class HttpFuzzTests
{
    /// <summary>Requests of a run; <c>TREEPIE_ROUNDS</c> says how many thousand instead.</summary>
    private static readonly int _requests =
        int.TryParse(Environment.GetEnvironmentVariable("TREEPIE_ROUNDS"), CultureInfo.InvariantCulture, out int rounds)
            ? rounds * 1_000
            : 5_000;

    [Fact]
    public async Task No_request_is_a_failure_of_the_server_hangs_or_leaves_anything_open()
    {
        int seed = Seed.Next();
        await using TestServer server = await TestServer.StartAsync(options =>
        {
            options.Limits = options.Limits with
            {
                RequestTimeout = TimeSpan.FromSeconds(20),
                BulkInsertIdleTimeout = TimeSpan.FromSeconds(10)
            };
            options.Database = options.Database with { DefaultStaleWait = TimeSpan.FromSeconds(1) };
        });
        await server.PutAsync("users/1", """{"name":"Ada","age":36,"@metadata":{"@collection":"Users"}}""");
        // A look at the activity lasts a second, and has tests of its own.
        (string Method, string Path)[] routes = [.. server.Routes.Where(static route => route.Path != "/admin/activity")];
        var grammar = new RequestGrammar(new Random(seed), routes);
        for (int i = 0; i < _requests; i++)
        {
            byte[] request = grammar.Next();
            string answer = await RawHttp.SendAsync(server.Url, request, TestServer.Cancelled);
            int status = RawHttp.StatusOf(answer);
            Assert.True(
                status is >= 200 and < 500 or 501 or 503
                    || answer.Contains("IndexDoesNotExistException", StringComparison.Ordinal),
                $"Seed {seed}, request {i}: {status}\n{Encoding.UTF8.GetString(request)}\n---\n{answer}");
        }

        await Eventually.TrueAsync(() => server.Catalog.Find("db")?.GetStatistics().OpenSnapshots == 0, "no snapshot is open");
        await server.PutAsync("users/2", "{}");
        Assert.Equal(
            "users/2",
            (await server.GetAsync("docs?id=users/2"))
                .GetProperty("Results")[0]
                .GetProperty("@metadata")
                .GetProperty("@id")
                .GetString());
    }
}
