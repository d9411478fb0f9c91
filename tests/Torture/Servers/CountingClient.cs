using System.Text.Json.Nodes;

namespace Treepie.Torture.Servers;

/// <summary>
/// Several clients take ranges of numbers and identities, none of which may be assigned twice, and increment a counter whose
/// value must be between what was acknowledged and what was attempted.
/// </summary>
internal sealed class CountingClient(int clients, Random random) : IStormClient
{
    private const string Document = "counted/1", Counter = "hits";
    private readonly Lock _gate = new();
    private readonly SortedDictionary<long, long> _ranges = [];
    private readonly HashSet<long> _identities = [];
    private long _sum;
    private long _unanswered;
    private long _lastIdentity;

    public string Report => $"{_ranges.Count} ranges, {_identities.Count} identities, counter at {_sum}";

    public Task PrepareAsync(DatabaseClient database) =>
        database.SendAsync(HttpMethod.Put, $"docs?id={Document}", new JsonObject { ["Number"] = 1 });

    public Task RunAsync(DatabaseClient database, Action acknowledged)
    {
        int[] seeds = [.. Enumerable.Range(0, clients).Select(_ => random.Next())];
        return Task.WhenAll(seeds.Select(seed => RunAsync(database, new Random(seed), acknowledged)));
    }

    public async Task VerifyAsync(DatabaseClient database)
    {
        JsonNode answer = await database.SendAsync(HttpMethod.Get, $"counters?docId={Document}&counter={Counter}");
        long value = (long?)answer["Counters"]?[0]?["TotalValue"] ?? 0;
        ServerTortureException.ThrowUnless(
            value >= _sum && value <= _sum + _unanswered,
            $"The counter is {value}; increments of {_sum} were acknowledged, and {_unanswered} more attempted.");
        (_sum, _unanswered) = (value, 0);
        JsonNode identities = await database.SendAsync(HttpMethod.Get, "debug/identities");
        long identity = (long?)identities["counted|"] ?? 0;
        ServerTortureException.ThrowUnless(
            identity >= _lastIdentity, $"The identity is {identity}, and {_lastIdentity} was given out.");
    }

    private async Task RunAsync(DatabaseClient database, Random own, Action acknowledged)
    {
        while (true)
        {
            switch (own.Next(3))
            {
                case 0:
                    JsonNode range = await database.SendAsync(
                        HttpMethod.Get, "hilo/next?tag=counted&lastBatchSize=0&lastMax=0&identityPartsSeparator=/");
                    AddRange((long)range["Low"]!, (long)range["High"]!); // every range has both
                    break;
                case 1:
                    JsonNode identity = await database.SendAsync(HttpMethod.Post, "identity/next?name=counted|");
                    AddIdentity((long)identity["NewIdentityValue"]!); // every response has it
                    break;
                default:
                    await IncrementAsync(database, own.Next(1, 10));
                    break;
            }

            acknowledged();
        }
    }

    private async Task IncrementAsync(DatabaseClient database, int delta)
    {
        Interlocked.Add(ref _unanswered, delta);
        await database.SendAsync(HttpMethod.Post, "counters", new JsonObject
        {
            ["Documents"] = new JsonArray(new JsonObject
            {
                ["DocumentId"] = Document,
                ["Operations"] = new JsonArray(
                    new JsonObject { ["Type"] = "Increment", ["CounterName"] = Counter, ["Delta"] = delta }),
            }),
        });
        Interlocked.Add(ref _sum, delta);
        Interlocked.Add(ref _unanswered, -delta);
    }

    private void AddRange(long low, long high)
    {
        lock (_gate)
        {
            foreach ((long from, long to) in _ranges)
                ServerTortureException.ThrowUnless(
                    high < from || low > to, $"The range {low} to {high} was given out as {from} to {to} before.");
            _ranges.Add(low, high);
        }
    }

    private void AddIdentity(long identity)
    {
        lock (_gate)
        {
            ServerTortureException.ThrowUnless(_identities.Add(identity), $"The identity {identity} was given out twice.");
            _lastIdentity = Math.Max(_lastIdentity, identity);
        }
    }
}
