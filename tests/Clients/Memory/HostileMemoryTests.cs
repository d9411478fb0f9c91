using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Http.Json;
using System.Text.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Memory;

/// <summary>
/// The real server with a limited heap, to whose one database four clients send hostile scripts, in patches, queries and maps,
/// while others ask another database: its memory stays in bounds, and the others get right answers, soon.
/// </summary>
[Collection(Measured.Collection)]
public sealed class HostileMemoryTests
{
    private const int HeapBytes = 256 << 20;

    /// <summary>
    /// The program itself, its threads' stacks and what it maps come on top of the heap.
    /// </summary>
    private const long MaxResidentBytes = HeapBytes + (192L << 20);

    private const int HostileClients = 4, Rounds = 3, Asked = 300;

    private static readonly string[] _scripts =
    [
        "while (true) {}",
        "const f = n => f(n + 1); f(1);",
        "let a = []; while (true) a.push('x'.repeat(1000));",
        "let s = 'aaaaaaaa'; while (true) s += s;",
        "let a = [1]; while (true) a = [...a, ...a];",
        "'a'.repeat(1 << 28);",
        "Array.from({ length: 1e9 });",
        "'x'.repeat(1e6).replaceAll('x', 'y'.repeat(1e6));",
        "/^(a+)+$/.test('a'.repeat(40) + 'b');",
        "regex('a'.repeat(40) + 'b', '^(a+)+$');",
        "const big = { a: Array(1e5).fill('y'.repeat(1e6)) }; scalarToRawString(big, x => 1);",
        "const o = {}; for (let i = 0; i < 10000; i++) o['a' + i] = undefined; "
            + "scalarToRawString({ a: Array(1e5).fill(o) }, x => 1);",
        "Object.prototype.x = 1;",
        "Object.getPrototypeOf([][Symbol.iterator]()).next = () => 1;",
        "({ get x() { throw new Error('thrown'); } }).x;",
        "({ get x() { while (true) {} } }).x;",
        "'' + { toString() { while (true) {} } };",
        "const i = { next: Object.prototype.valueOf, [Symbol.iterator]() { return i; } }; [...i];",
    ];

    /// <summary>
    /// Maps that end themselves, and such that only ask for much: the last four are over documents of 16 MB and of 10,000
    /// members.
    /// </summary>
    private static readonly string[] _maps =
    [
        .. _scripts.Where(static script => !script.Contains("scalarToRawString", StringComparison.Ordinal))
            .Select(static script => $"{script} return {{ A: 1 }};"),
        "return { A: Array(1e5).fill('y'.repeat(1e5)) };",
        "return { get A() { throw new Error('thrown'); } };",
        "return { A: 1, ...Object.fromEntries(Array.from({ length: 10000 }, (_, i) => ['F' + i, i])) };",
        "return { A: 1, B: Array.from({ length: 10000 }, (_, i) => createField('F' + i, 1)) };",
        "return Array(1024).fill(0).map((_, i) => ({ A: i, B: u.Name }));",
        "return { A: Object.keys(u).length, B: u.Name };",
    ];

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Hostile_scripts_take_neither_the_memory_of_the_server_nor_the_time_of_others()
    {
        await using ServerProcess server = await ServerProcess.StartUnderAsync(
            ["env", $"DOTNET_GCHeapHardLimit=0x{HeapBytes:X}"]);
        await CreateAsync(server, "good", [.. Enumerable.Range(0, 200).Select(static i => new { Name = $"n{i}", Age = i })]);
        await CreateAsync(
            server, "bad",
            [
                .. Enumerable.Range(0, HostileClients).Select(static i => new { Name = "x", Age = i }),
                new { Name = "long", Text = new string('x', 16 << 20) },
                Enumerable.Range(0, 10_000).ToDictionary(static i => $"f{i}", static i => i),
            ]);
        await AskAsync(server); // compiles what is not compiled yet
        double alone = await AskAsync(server);

        await DefineMapsAsync(server);
        using var over = new CancellationTokenSource();
        var answers = new ConcurrentDictionary<HttpStatusCode, int>();
        Task[] attacks =
        [
            .. Enumerable.Range(0, HostileClients).Select(client => AttackAsync(server, client, answers, over.Token)),
        ];
        var beside = new List<double>();
        try
        {
            for (int i = 0; i < Rounds; i++)
                beside.Add(await AskAsync(server));
            await MapsEndAsync(server);
        }
        catch (HttpRequestException error)
        {
            await server.KillAsync();
            Assert.Fail($"{error.Message}\n{server.Output}"); // what a server says that ends
        }

        await over.CancelAsync();
        await Task.WhenAll(attacks);
        double after = await AskAsync(server);

        string told = $"p99 of others: {alone:0.0} ms alone, {string.Join(", ", beside.Select(static ms => $"{ms:0.0}"))} ms "
            + $"beside hostile scripts, {after:0.0} ms after; {Resident(server.ProcessId) >> 20} MB at most; hostile requests: "
            + string.Join(", ", answers.OrderBy(static one => one.Key).Select(static one => $"{one.Value} × {(int)one.Key}"));
        TestContext.Current.TestOutputHelper?.WriteLine(told);
        Assert.True(Resident(server.ProcessId) < MaxResidentBytes, told);
        // Who is held up by hostile scripts waits for several of them, each of which has a second.
        Assert.True(beside.Min() < Math.Max(10 * Math.Max(alone, after), 2_000), told);
        Assert.True(answers.Values.Sum() >= 2 * HostileClients * _scripts.Length, told);
        Assert.Equal(0, await server.StopAsync());
    }

    private static async Task CreateAsync(ServerProcess server, string database, object[] documents)
    {
        using (HttpResponseMessage made = await server.Http.PutAsync($"/admin/databases?name={database}", null, Cancel))
            made.EnsureSuccessStatusCode();
        for (int i = 0; i < documents.Length; i++)
            Assert.Equal(HttpStatusCode.Created, await PutAsync(server, database, i, documents[i]));
    }

    private static async Task<HttpStatusCode> PutAsync(ServerProcess server, string database, int i, object document)
    {
        JsonElement body = JsonSerializer.SerializeToElement(document);
        Dictionary<string, object> members = body.EnumerateObject().ToDictionary(
            static member => member.Name, static member => (object)member.Value);
        string collection = members.ContainsKey("Age") ? "Users" : "Long";
        members["@metadata"] = new Dictionary<string, string> { ["@collection"] = collection };
        return await SendAsync(server, HttpMethod.Put, $"/databases/{database}/docs?id=users/{i}", members);
    }

    /// <summary>Loads, queries and projections of others, each answered as it must be; gives the 99th percentile.</summary>
    private static async Task<double> AskAsync(ServerProcess server)
    {
        var times = new List<double>();
        for (int i = 0; i < Asked; i++)
        {
            long began = Stopwatch.GetTimestamp();
            string answer = (i % 3) switch
            {
                0 => await server.Http.GetStringAsync($"/databases/good/docs?id=users/{i % 200}", Cancel),
                1 => await QueryAsync(server, "good", $"from Users where Age = {i % 200}"),
                _ => await QueryAsync(server, "good", $"from Users as u where u.Age = {i % 200} select {{ Name: u.Name, A: 1 }}"),
            };
            times.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
            using JsonDocument json = JsonDocument.Parse(answer);
            JsonElement result = Assert.Single(json.RootElement.GetProperty("Results").EnumerateArray().ToArray());
            Assert.Equal($"n{i % 200}", result.GetProperty("Name").GetString());
        }

        times.Sort();
        return times[(int)(times.Count * 0.99)];
    }

    private static async Task<string> QueryAsync(ServerProcess server, string database, string query)
    {
        using HttpResponseMessage response = await server.Http.PostAsJsonAsync(
            $"/databases/{database}/queries", new { Query = query, WaitForNonStaleResults = true },
            JsonSerializerOptions.Default, Cancel);
        string text = await response.Content.ReadAsStringAsync(Cancel);
        Assert.True(response.IsSuccessStatusCode, $"{(int)response.StatusCode} {text}\n{server.Output}");
        return text;
    }

    private static async Task AttackAsync(
        ServerProcess server, int client, ConcurrentDictionary<HttpStatusCode, int> answers, CancellationToken over)
    {
        for (int i = 0; !over.IsCancellationRequested || i < _scripts.Length; i++)
        {
            string script = _scripts[(i + client) % _scripts.Length];
            Count(await SendAsync(
                server, HttpMethod.Patch, $"/databases/bad/docs?id=users/{(client + i) % HostileClients}",
                new { Patch = new { Script = script } }), HttpStatusCode.BadRequest);
            Count(await SendAsync(
                server, HttpMethod.Post, "/databases/bad/queries",
                new { Query = $"declare function f(u) {{ {script} }} from Users as u select f(u)" }), HttpStatusCode.BadRequest);
            Count(await SendAsync(
                server, HttpMethod.Post, "/databases/bad/queries",
                new { Query = $"declare function f(u) {{ {script} }} from Users as u filter f(u)" }), HttpStatusCode.BadRequest);
            Count(await PutAsync(server, "bad", client, new { Name = "x", Age = i }), HttpStatusCode.Created);

            void Count(HttpStatusCode answer, HttpStatusCode expected)
            {
                answers.AddOrUpdate(answer, 1, static (_, count) => count + 1);
                // A script may find that the others have left no memory, which is not its own error.
                bool isRefused = answer == expected
                    || (expected == HttpStatusCode.BadRequest && answer == HttpStatusCode.ServiceUnavailable);
                Assert.True(isRefused, $"{script}: {answer}\n{server.Output}");
            }
        }
    }

    private static async Task DefineMapsAsync(ServerProcess server)
    {
        object[] indexes =
        [
            .. _maps.Select(static (body, i) => new
            {
                Name = $"Bad/{i}",
                Maps = new[] { $"map('{(i < _maps.Length - 4 ? "Users" : "Long")}', u => {{ {body} }})" },
            }),
        ];
        Assert.Equal(
            HttpStatusCode.Created,
            await SendAsync(server, HttpMethod.Put, "/databases/bad/admin/indexes", new { Indexes = indexes }));
    }

    /// <summary>Every map has seen every document, those of 16 MB and of 10,000 members too.</summary>
    private static async Task MapsEndAsync(ServerProcess server)
    {
        for (int i = 0; i < _maps.Length; i++)
            await QueryAsync(server, "bad", $"from index 'Bad/{i}' limit 1");
        string last = $"Bad/{_maps.Length - 1}";
        foreach (string condition in (string[])["B = 'long'", "A > 10000"])
        {
            using JsonDocument found = JsonDocument.Parse(
                await QueryAsync(server, "bad", $"from index '{last}' where {condition} select A"));
            Assert.True(
                found.RootElement.GetProperty("TotalResults").GetInt32() == 1,
                $"{condition}: {found.RootElement}\n"
                + await server.Http.GetStringAsync($"/databases/bad/indexes/errors?name={last}", Cancel));
        }
    }

    private static async Task<HttpStatusCode> SendAsync(ServerProcess server, HttpMethod method, string path, object body)
    {
        using var request = new HttpRequestMessage(method, path);
        request.Content = JsonContent.Create(body, options: JsonSerializerOptions.Default);
        using HttpResponseMessage response = await server.Http.SendAsync(request, Cancel);
        await response.Content.ReadAsByteArrayAsync(Cancel);
        return response.StatusCode;
    }

    /// <summary>The most memory that a process ever had at once.</summary>
    private static long Resident(int processId)
    {
        string line = File.ReadLines($"/proc/{processId}/status").First(
            static line => line.StartsWith("VmHWM:", StringComparison.Ordinal));
        return long.Parse(line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture) << 10;
    }
}
