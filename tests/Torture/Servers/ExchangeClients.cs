using System.Net;
using System.Text.Json.Nodes;

namespace Treepie.Torture.Servers;

/// <summary>
/// Several clients change the same compare-exchange values, alone or in a cluster-wide batch with a document that must get
/// the same number. Each change specifies the expected index and writes a unique number. So the changes of one value form a
/// chain in which no index has two successors, and what is found after a kill is never older than what was acknowledged.
/// </summary>
internal sealed class ExchangeClients(int clients, Random random) : IStormClient
{
    private const int Keys = 4;
    private readonly Lock _gate = new();
    private readonly Dictionary<long, Change> _changes = [];
    private readonly Dictionary<(string Key, long Index), Change> _successors = [];
    private readonly Dictionary<string, Change> _last = [];
    private long _numbers;
    private long _refused;

    public string Report => $"{_successors.Count} exchanges, {_refused} refused";

    public Task PrepareAsync(DatabaseClient database) => Task.CompletedTask;

    public Task RunAsync(DatabaseClient database, Action acknowledged)
    {
        int[] seeds = [.. Enumerable.Range(0, clients).Select(_ => random.Next())];
        return Task.WhenAll(seeds.Select(seed => RunAsync(database, new Random(seed), acknowledged)));
    }

    public async Task VerifyAsync(DatabaseClient database)
    {
        for (int i = 0; i < Keys; i++)
        {
            string key = KeyOf(i);
            (long number, long index) = await ReadAsync(database, key);
            if (IsTwin(key))
                await VerifyTwinAsync(database, key, number);
            if (number == 0)
            {
                ServerTortureException.ThrowUnless(!_last.ContainsKey(key), $"The value of '{key}' is lost.");
                continue;
            }

            ServerTortureException.ThrowUnless(
                _changes.TryGetValue(number, out Change? change) && change.Key == key && !change.IsRefused,
                $"'{key}' holds {number}, which nobody wrote there, or was refused.");
            if (_last.TryGetValue(key, out Change? last))
                ServerTortureException.ThrowUnless(
                    change == last || change!.Expected > last.Expected, // found above
                    $"'{key}' holds {number} (expected index {change!.Expected}); {last.Number} was acknowledged later "
                        + $"(expected index {last.Expected}).");
            ServerTortureException.ThrowUnless(index > change!.Expected, $"The index {index} of '{key}' did not grow.");
            Succeed(change);
        }
    }

    private async Task RunAsync(DatabaseClient database, Random own, Action acknowledged)
    {
        while (true)
        {
            string key = KeyOf(own.Next(Keys));
            (long before, long index) = await ReadAsync(database, key);
            var change = new Change(Interlocked.Increment(ref _numbers), key, index);
            lock (_gate)
                _changes.Add(change.Number, change);
            bool isDone = IsTwin(key)
                ? await ChangeTwinAsync(database, change)
                : await ChangeAsync(database, change);
            if (isDone)
            {
                Succeed(change);
                acknowledged();
            }
            else
            {
                change.IsRefused = true;
                Interlocked.Increment(ref _refused);
            }
        }
    }

    private static async Task<bool> ChangeAsync(DatabaseClient database, Change change)
    {
        JsonNode answer = await database.SendAsync(
            HttpMethod.Put, $"cmpxchg?key={change.Key}&index={change.Expected}", new JsonObject { ["Object"] = change.Number });
        bool isDone = (bool)answer["Successful"]!; // every response has both
        long index = (long)answer["Index"]!;
        ServerTortureException.ThrowUnless(
            !isDone || index > change.Expected, $"'{change.Key}' was changed at {change.Expected} and has the index {index}.");
        ServerTortureException.ThrowUnless(
            isDone || index != change.Expected, $"'{change.Key}' refuses the index {change.Expected}, which it says it has.");
        return isDone;
    }

    private static async Task<bool> ChangeTwinAsync(DatabaseClient database, Change change)
    {
        (HttpStatusCode status, string text) = await database.TryAsync(HttpMethod.Post, "bulk_docs", new JsonObject
        {
            ["TransactionMode"] = "ClusterWide",
            ["Commands"] = new JsonArray(
                new JsonObject
                {
                    ["Type"] = "CompareExchangePUT",
                    ["Id"] = change.Key,
                    ["Index"] = change.Expected,
                    ["Document"] = new JsonObject { ["Object"] = change.Number },
                },
                new JsonObject
                {
                    ["Type"] = "PUT",
                    ["Id"] = change.Key,
                    ["Document"] = new JsonObject
                    {
                        ["Number"] = change.Number,
                        ["@metadata"] = new JsonObject { ["@collection"] = "Twins" },
                    },
                }),
        });
        ServerTortureException.ThrowUnless(
            status is HttpStatusCode.Created or HttpStatusCode.Conflict,
            $"A cluster-wide batch is answered {(int)status}: {text}");
        return status == HttpStatusCode.Created;
    }

    private void Succeed(Change change)
    {
        lock (_gate)
        {
            Change successor = change;
            if (!_successors.TryAdd((change.Key, change.Expected), change))
                successor = _successors[(change.Key, change.Expected)];
            ServerTortureException.ThrowUnless(
                successor == change,
                $"'{change.Key}' was changed at its index {change.Expected} twice: to {successor.Number} and {change.Number}.");
            if (!_last.TryGetValue(change.Key, out Change? last) || last.Expected < change.Expected)
                _last[change.Key] = change;
        }
    }

    private static async Task VerifyTwinAsync(DatabaseClient database, string key, long number)
    {
        (HttpStatusCode status, string text) = await database.TryAsync(HttpMethod.Get, $"docs?id={key}");
        long other = status == HttpStatusCode.OK ? (long?)JsonNode.Parse(text)?["Results"]?[0]?["Number"] ?? 0 : 0;
        ServerTortureException.ThrowUnless(
            other == number, $"The value of '{key}' is {number}, and that of its document, of the same batches, {other}.");
    }

    private static async Task<(long Number, long Index)> ReadAsync(DatabaseClient database, string key)
    {
        (HttpStatusCode status, string text) = await database.TryAsync(HttpMethod.Get, $"cmpxchg?key={key}");
        JsonNode? found = status == HttpStatusCode.OK ? JsonNode.Parse(text)?["Results"]?[0] : null;
        return found?["Value"]?["Object"] is { } number ? ((long)number, (long?)found["Index"] ?? 0) : (0, 0);
    }

    private static string KeyOf(int number) => $"{(number % 2 == 0 ? "alone" : "twins")}/{number}";

    private static bool IsTwin(string key) => key.StartsWith("twins", StringComparison.Ordinal);

    /// <summary>A change that was sent.</summary>
    private sealed record Change(long Number, string Key, long Expected)
    {
        public bool IsRefused { get; set; }
    }
}
