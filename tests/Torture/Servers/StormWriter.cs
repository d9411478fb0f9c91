using System.Collections.Immutable;
using System.Net;
using System.Text.Json.Nodes;

namespace Treepie.Torture.Servers;

/// <summary>
/// Writes documents with attachments, counters and time series in random batches. Each batch also stores its number and the
/// hash of the resulting state (<see cref="Ledger"/>). Some batches expect a wrong change vector, and must leave nothing behind.
/// </summary>
internal sealed class StormWriter(int number, Random random) : IStormClient
{
    /// <summary>Name of the time series.</summary>
    public const string Series = "Heat";

    /// <summary>Number of revisions kept of each ledger.</summary>
    private const int Revisions = 5;

    private const int MaxDocuments = 16;

    private ImmutableSortedDictionary<string, Thing> _things =
        ImmutableSortedDictionary<string, Thing>.Empty.WithComparers(StringComparer.Ordinal);

    private ImmutableSortedDictionary<string, Thing>? _unanswered;
    private int _acknowledged;
    private int _refused;
    private volatile int _begun;

    /// <summary>Number of the writer.</summary>
    public int Number => number;

    /// <summary>Number of the last acknowledged batch.</summary>
    public int Acknowledged => Volatile.Read(ref _acknowledged);

    /// <summary>Number of the last batch that was sent.</summary>
    public int Begun => _begun;

    public string Report => $"writer {number}: {_acknowledged} batches, {_refused} refused";

    public async Task PrepareAsync(DatabaseClient database)
    {
        if (number != 1)
            return;

        await database.SendAsync(HttpMethod.Post, "admin/revisions/config", new JsonObject
        {
            ["Collections"] = new JsonObject { ["Ledgers"] = new JsonObject { ["MinimumRevisionsToKeep"] = Revisions } },
        });
        await database.SendAsync(HttpMethod.Post, "admin/expiration/config", new JsonObject
        {
            ["Disabled"] = false,
            ["DeleteFrequencyInSec"] = 1
        });
    }

    public async Task RunAsync(DatabaseClient database, Action acknowledged)
    {
        while (true)
        {
            var batch = new StormBatch(_things, number, random);
            int operations = random.Next(1, 8);
            for (int i = 0; i < operations; i++)
                batch.Add(MaxDocuments);
            batch.AddLedger(_acknowledged + 1);
            bool isWrong = random.Next(8) == 0;
            if (isWrong)
                batch.AddWrongExpectation();
            _begun = _acknowledged + 1;
            if (!isWrong)
                _unanswered = batch.Things;

            (HttpStatusCode status, string text) = await database.TryAsync(HttpMethod.Post, "bulk_docs", batch.ToContent());
            if (isWrong)
            {
                ServerTortureException.ThrowUnless(
                    status == HttpStatusCode.Conflict, $"Writer {number}: a wrong expectation is answered {(int)status}: {text}");
                _refused++;
                continue;
            }

            ServerTortureException.ThrowUnless(
                status == HttpStatusCode.Created, $"Writer {number}: the batch is answered {(int)status}: {text}\n{batch}");
            _things = batch.Things;
            _unanswered = null;
            Interlocked.Increment(ref _acknowledged);
            acknowledged();
        }
    }

    public async Task VerifyAsync(DatabaseClient database)
    {
        Ledger found = await Ledger.ReadAsync(database, number);
        bool isThere = _unanswered is not null && found.Number == _acknowledged + 1;
        ServerTortureException.ThrowUnless(
            found.Number == _acknowledged || isThere,
            $"Writer {number}: batch {_acknowledged} was acknowledged, {_begun} sent, and the last one there is {found.Number}.");
        if (isThere)
        {
            _things = _unanswered!; // set if isThere
            _acknowledged++;
        }

        _unanswered = null;
        string expected = Ledger.TextOf(_things);
        ServerTortureException.ThrowUnless(
            expected == found.Text, $"Writer {number}, batch {found.Number}: expected\n{expected}\nfound\n{found.Text}");
        await VerifyRevisionsAsync(database, found.Number);
    }

    private async Task VerifyRevisionsAsync(DatabaseClient database, int last)
    {
        JsonNode revisions = await database.SendAsync(
            HttpMethod.Get, $"revisions?id={Ledger.IdOf(number)}&start=0&pageSize=100");
        int[] numbers = [.. revisions["Results"]!.AsArray().Select(static one => (int?)one?["Number"] ?? -1)]; // always present
        int[] expected = [.. Enumerable.Range(0, Math.Min(last, Revisions)).Select(i => last - i)];
        ServerTortureException.ThrowUnless(
            numbers.AsSpan().SequenceEqual(expected),
            $"Writer {number}: the revisions of its ledger are of {string.Join(",", numbers)}, not of "
                + $"{string.Join(",", expected)}.");
    }
}
