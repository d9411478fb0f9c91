using System.Collections.Immutable;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;

namespace Treepie.Torture.Servers;

/// <summary>
/// The documents of one writer as read from a database. Each batch of a writer stores its number and the hash of the
/// resulting state in a document, so that any state (after a kill, or of a backup) can be verified on its own.
/// </summary>
/// <param name="Number">Number of the last batch, or 0 if there is none.</param>
/// <param name="Hash">Hash of the state after the batch, as stored by it.</param>
/// <param name="Text">The state found, one line per document.</param>
internal sealed record Ledger(int Number, string Hash, string Text)
{
    /// <summary>Id of the document in which a writer's batches store their numbers.</summary>
    public static string IdOf(int writer) => $"ledgers/{writer}";

    /// <summary>Prefix of the ids of a writer's documents.</summary>
    public static string PrefixOf(int writer) => $"things/{writer}/";

    /// <summary>Formats a state as text.</summary>
    public static string TextOf(ImmutableSortedDictionary<string, Thing> things)
    {
        var text = new StringBuilder();
        foreach ((string id, Thing thing) in things)
            thing.WriteTo(text, id);
        return text.ToString();
    }

    /// <summary>The hash of a state.</summary>
    public static string HashOf(string text) => HashOf(Encoding.UTF8.GetBytes(text));

    /// <summary>The hash of a content.</summary>
    public static string HashOf(byte[] content) => Convert.ToHexStringLower(SHA256.HashData(content))[..16];

    /// <summary>Reads everything that a writer wrote. Throws if it is not the state after its last batch.</summary>
    public static async Task<Ledger> ReadAsync(DatabaseClient database, int writer)
    {
        JsonNode? ledger = (await database.TryAsync(HttpMethod.Get, $"docs?id={IdOf(writer)}")) switch
        {
            (System.Net.HttpStatusCode.OK, var text) => JsonNode.Parse(text)?["Results"]?[0],
            (System.Net.HttpStatusCode.NotFound, _) => null,
            var (status, text) => throw new ServerTortureException($"{IdOf(writer)} cannot be read: {(int)status} {text}"),
        };
        var things = ImmutableSortedDictionary.CreateBuilder<string, Thing>(StringComparer.Ordinal);
        JsonNode found = await database.SendAsync(HttpMethod.Get, $"docs?startsWith={PrefixOf(writer)}&pageSize=1000");
        foreach (JsonNode? document in found["Results"]!.AsArray()) // always present
            await ReadAsync(database, document!, things); // documents are objects
        string state = TextOf(things.ToImmutable());
        var read = new Ledger((int?)ledger?["Number"] ?? 0, (string?)ledger?["Hash"] ?? HashOf(""), state);
        ServerTortureException.ThrowUnless(
            HashOf(state) == read.Hash,
            $"Writer {writer}: what is there is not what batch {read.Number} left (hash {read.Hash}). There is:\n{state}");
        return read;
    }

    private static async Task ReadAsync(
        DatabaseClient database, JsonNode document, ImmutableSortedDictionary<string, Thing>.Builder things)
    {
        JsonNode metadata = document["@metadata"] ?? throw new ServerTortureException($"A document without metadata: {document}");
        string id = (string?)metadata["@id"] ?? throw new ServerTortureException($"A document without id: {document}");
        var thing = new Thing((int?)document["Number"] ?? -1, (string?)document["Kind"] ?? "");
        foreach (JsonNode? entry in metadata["@attachments"]?.AsArray() ?? [])
        {
            string name = (string?)entry?["Name"] ?? "";
            byte[] content = await database.BytesAsync($"attachments?id={id}&name={name}")
                ?? throw new ServerTortureException($"'{id}' says that it has an attachment '{name}', which is not there.");
            thing = thing with { Attachments = thing.Attachments.Add(name, HashOf(content)) };
        }

        // Read from the stores of counters and time series, not from the metadata.
        JsonNode counters = await database.SendAsync(HttpMethod.Get, $"counters?docId={id}");
        foreach (JsonNode? counter in counters["Counters"]?.AsArray() ?? [])
            if (counter is not null)
                thing = thing with
                {
                    Counters = thing.Counters.Add((string?)counter["CounterName"] ?? "", (long?)counter["TotalValue"] ?? 0)
                };
        RequireSame(id, "@counters", metadata["@counters"], thing.Counters.Keys);
        if (metadata["@timeseries"]?.AsArray() is { Count: > 0 })
        {
            JsonNode series = await database.SendAsync(HttpMethod.Get, $"timeseries?docId={id}&name={StormWriter.Series}");
            foreach (JsonNode? entry in series["Entries"]?.AsArray() ?? [])
                thing = thing with
                {
                    Series = thing.Series.Add(
                        (long)(DateTime.Parse(
                            (string)entry!["Timestamp"]!, // entries have both properties
                            System.Globalization.CultureInfo.InvariantCulture,
                            System.Globalization.DateTimeStyles.AdjustToUniversal) - DateTime.UnixEpoch).TotalMilliseconds,
                        (double)entry["Values"]![0]!)
                };
        }

        things.Add(id, thing);
    }

    private static void RequireSame(string id, string member, JsonNode? told, IEnumerable<string> there)
    {
        string says = string.Join(
            ",", (told?.AsArray() ?? []).Select(static name => (string?)name).Order(StringComparer.Ordinal));
        string has = string.Join(",", there);
        ServerTortureException.ThrowUnless(says == has, $"'{id}' says in {member} '{says}', and there are '{has}'.");
    }
}
