using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.RegularExpressions;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Telemetry;

/// <summary>Metrics as they are fetched and sent, and traces from a client's span to the commit.</summary>
public sealed partial class TelemetryTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Metrics_are_fetched_and_every_one_of_ours_is_documented()
    {
        using var directory = new TemporaryDirectory();
        using var input = new LineInput();
        string name = $"shop-{Guid.NewGuid():N}";
        (Task<int> run, string url, StringWriter _) = await RunningProgram.StartAsync(input, "--data", directory.Path,
            "--metrics");
        using var http = new HttpClient { BaseAddress = new Uri(url) };
        await WorkAsync(http, name);
        string text = await http.GetStringAsync("/metrics", Cancelled);
        Assert.Matches($$"""treepie_write_duration_seconds_count\{[^}]*db_namespace="{{name}}"\} 2""", text);
        Assert.Matches($$"""treepie_query_duration_seconds_count\{[^}]*db_namespace="{{name}}"\} 1""", text);
        // other servers of this process count too
        Assert.Matches(
            """http_server_request_duration_seconds_count\{[^}]*http_response_status_code="201",http_route="/databases/\{database\}/docs"[^}]*\} [1-9]""",
            text);
        Assert.Matches("""kestrel_active_connections\{[^}]*\} [1-9]""", text);

        string page = await File.ReadAllTextAsync(Path.Combine(DataSets.RepositoryRoot, "docs", "reference", "metrics.md"),
            Cancelled);
        string[] ours = [.. OwnMetric().Matches(text).Select(static match => match.Groups[1].Value).Distinct()];
        Assert.True(ours.Length >= 8, string.Join(", ", ours));
        Assert.All(ours, metric => Assert.Contains($"`{metric}`", page, StringComparison.Ordinal));
        input.Send("q");
        Assert.Equal(0, await run);
    }

    [Fact]
    public async Task Metrics_are_for_operators_and_absent_unless_asked_for()
    {
        await using (SecuredServer server = await SecuredServer.StartAsync("--metrics"))
        {
            using X509Certificate2 user = server.Authority.Client("user"), op = server.Authority.Client("op");
            await server.RegisterAsync(user, permissions: """{"shop":"Admin"}""");
            await server.RegisterAsync(op, "Operator");
            Assert.Equal(403, (await server.GetAsync(null, "/metrics")).Status);
            Assert.Equal(403, (await server.GetAsync(user, "/metrics")).Status);
            Assert.Equal(200, (await server.GetAsync(op, "/metrics")).Status);
        }

        await using SecuredServer without = await SecuredServer.StartAsync();
        Assert.Equal(400, (await without.GetAsync(without.Admin, "/metrics")).Status);
    }

    [Fact]
    public async Task A_trace_leads_from_the_clients_span_to_the_commit_and_metrics_are_sent()
    {
        const string Trace = "0af7651916cd43dd8448eb211c80319c", Client = "b7ad6b7169203331";
        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync();
        using var directory = new TemporaryDirectory();
        using var input = new LineInput();
        (Task<int> run, string url, StringWriter _) = await RunningProgram.StartAsync(input, "--data", directory.Path,
            "--otlp-endpoint", receiver.Url);
        using (var http = new HttpClient { BaseAddress = new Uri(url) })
        {
            await WorkAsync(http, "untraced");
            http.DefaultRequestHeaders.Add("traceparent", $"00-{Trace}-{Client}-01");
            await WorkAsync(http, "traced");
        }

        input.Send("q");
        Assert.Equal(0, await run); // and what was not sent yet is sent now
        IReadOnlyList<OtlpSpan> spans = receiver.Spans;
        Assert.All(spans, static span => Assert.Equal(Trace, span.Trace));
        OtlpSpan[] requests = [.. spans.Where(static span => span.Parent == Client)];
        Assert.Equal(4, requests.Length); // the database, two documents, a query
        OtlpSpan[] writes = [.. spans.Where(static span => span.Name == "treepie.write")];
        Assert.Equal(2, writes.Length);
        foreach (OtlpSpan write in writes)
        {
            Assert.Contains(requests, request => request.Id == write.Parent);
            Assert.Equal(["treepie.apply", "treepie.commit"],
                spans.Where(span => span.Parent == write.Id).Select(static span => span.Name).Order(StringComparer.Ordinal));
        }

        OtlpSpan query = Assert.Single(spans, static span => span.Name == "treepie.query");
        Assert.Contains(requests, request => request.Id == query.Parent);
        Assert.Contains(spans, span => span.Parent == query.Id && span.Name == "treepie.query.Parse");
        Assert.Contains("treepie.write.duration", receiver.Metrics);
        Assert.Contains("http.server.request.duration", receiver.Metrics);
    }

    private static async Task WorkAsync(HttpClient http, string database)
    {
        await SendAsync(http, HttpMethod.Put, $"/admin/databases?name={database}", "{}");
        await SendAsync(http, HttpMethod.Put, $"/databases/{database}/docs?id=a", "{}");
        await SendAsync(http, HttpMethod.Put, $"/databases/{database}/docs?id=b", "{}");
        await SendAsync(
            http, HttpMethod.Post, $"/databases/{database}/queries", """{"Query":"from @all_docs where Name = 'x'"}""");
    }

    private static async Task SendAsync(HttpClient http, HttpMethod method, string path, string body)
    {
        using var request = new HttpRequestMessage(method,
            path)
        { Content = new StringContent(body, Encoding.UTF8, "application/json") };
        using HttpResponseMessage response = await http.SendAsync(request, Cancelled);
        Assert.True(response.IsSuccessStatusCode,
            $"{method} {path}: {(int)response.StatusCode} {await response.Content.ReadAsStringAsync(Cancelled)}");
    }

    [GeneratedRegex(@"^# TYPE (treepie_\w+)", RegexOptions.Multiline)]
    private static partial Regex OwnMetric();
}
