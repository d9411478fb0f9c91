using System.Collections.Immutable;
using System.Globalization;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json.Nodes;

namespace Treepie.Torture.Servers;

/// <summary>A random batch for the documents of one writer, and the resulting documents.</summary>
internal sealed class StormBatch(ImmutableSortedDictionary<string, Thing> things, int writer, Random random)
{
    private const int Groups = 5;
    private static readonly string[] _names = ["red", "green", "blue"];
    private readonly JsonArray _commands = [];
    private readonly List<byte[]> _contents = [];

    /// <summary>The documents after the batch.</summary>
    public ImmutableSortedDictionary<string, Thing> Things { get; private set; } = things;

    /// <summary>Adds a random operation.</summary>
    public void Add(int maxDocuments)
    {
        string id = Things.Count > 0 && random.Next(4) > 0
            ? Things.Keys.ElementAt(random.Next(Things.Count))
            : Ledger.PrefixOf(writer) + random.Next(maxDocuments).ToString(CultureInfo.InvariantCulture);
        if (!Things.TryGetValue(id, out Thing? thing))
        {
            Put(id, null);
            return;
        }

        switch (random.Next(12))
        {
            case 0 or 1:
                Put(id, thing);
                break;
            case 2:
                Command("DELETE", id);
                Things = Things.Remove(id);
                break;
            case 3 or 4:
                int added = random.Next(1, 100);
                Command("PATCH", id)["Patch"] = new JsonObject
                {
                    ["Script"] = "this.Number += args.Added",
                    ["Values"] = new JsonObject { ["Added"] = added },
                };
                Things = Things.SetItem(id, thing with { Number = thing.Number + added });
                break;
            case 5 or 6:
                PutAttachment(id, thing);
                break;
            case 7:
                ChangeAttachment(id, thing);
                break;
            case 8 or 9:
                Count(id, thing);
                break;
            default:
                Measure(id, thing);
                break;
        }
    }

    /// <summary>Adds the document that records the resulting state.</summary>
    public void AddLedger(int number) => Command("PUT", Ledger.IdOf(writer))["Document"] = new JsonObject
    {
        ["Number"] = number,
        ["Hash"] = Ledger.HashOf(Ledger.TextOf(Things)),
        ["@metadata"] = new JsonObject { ["@collection"] = "Ledgers" },
    };

    /// <summary>Adds a document with a change vector it never had, so that the whole batch must be refused.</summary>
    public void AddWrongExpectation()
    {
        JsonObject command = Command("PUT", Ledger.PrefixOf(writer) + "0");
        command["ChangeVector"] = "A:999999999-AAAAAAAAAAAAAAAAAAAAAA";
        command["Document"] = Document(0, "wrong");
    }

    /// <summary>The body of a request to <c>bulk_docs</c>.</summary>
    public HttpContent ToContent()
    {
        HttpContent commands = DatabaseClient.JsonContent(new JsonObject { ["Commands"] = _commands });
        if (_contents.Count == 0)
            return commands;

        var form = new MultipartFormDataContent { { commands, "main" } };
        foreach (byte[] content in _contents)
        {
            var part = new ByteArrayContent(content);
            part.Headers.TryAddWithoutValidation("Command-Type", "AttachmentStream");
            part.Headers.ContentType = new MediaTypeHeaderValue("application/octet-stream");
            form.Add(part, "content");
        }

        return form;
    }

    public override string ToString() => _commands.ToJsonString();

    private static JsonObject Document(int number, string group) => new()
    {
        ["Number"] = number,
        ["Kind"] = group,
        ["Text"] = string.Join(' ', Enumerable.Range(0, 12).Select(i => $"w{number % (i + 2)}x{i}")),
        ["@metadata"] = new JsonObject { ["@collection"] = "Things" },
    };

    private void Put(string id, Thing? before)
    {
        (int number, string group) = (random.Next(1_000), $"g{random.Next(Groups)}");
        Command("PUT", id)["Document"] = Document(number, group);
        Things = Things.SetItem(
            id, before is null ? new Thing(number, group) : before with { Number = number, Group = group });
    }

    private void PutAttachment(string id, Thing thing)
    {
        // Half of the attachments share their content with others.
        byte[] content = new byte[random.Next(8) == 0 ? random.Next(200_000) : random.Next(3_000)];
        if (random.Next(2) == 0)
            content = Encoding.UTF8.GetBytes($"shared {random.Next(5)}");
        else
            random.NextBytes(content);
        string name = _names[random.Next(_names.Length)];
        JsonObject command = Command("AttachmentPUT", id);
        command["Name"] = name;
        command["ContentType"] = "application/octet-stream";
        _contents.Add(content);
        Things = Things.SetItem(id, thing with { Attachments = thing.Attachments.SetItem(name, Ledger.HashOf(content)) });
    }

    private void ChangeAttachment(string id, Thing thing)
    {
        if (thing.Attachments.IsEmpty)
            return;

        (string name, string hash) = thing.Attachments.ElementAt(random.Next(thing.Attachments.Count));
        string other = Things.Keys.ElementAt(random.Next(Things.Count)), free = $"copy{random.Next(3)}";
        int what = random.Next(3);
        if (what == 0 || Things[other].Attachments.ContainsKey(free))
        {
            Command("AttachmentDELETE", id)["Name"] = name;
            Things = Things.SetItem(id, thing with { Attachments = thing.Attachments.Remove(name) });
            return;
        }

        JsonObject command = Command(what == 1 ? "AttachmentCOPY" : "AttachmentMOVE", id);
        command["Name"] = name;
        command["DestinationId"] = other;
        command["DestinationName"] = free;
        if (what == 2)
            Things = Things.SetItem(id, thing with { Attachments = thing.Attachments.Remove(name) });
        Thing target = Things[other];
        Things = Things.SetItem(other, target with { Attachments = target.Attachments.SetItem(free, hash) });
    }

    private void Count(string id, Thing thing)
    {
        string name = _names[random.Next(_names.Length)];
        bool deletes = thing.Counters.ContainsKey(name) && random.Next(5) == 0;
        int delta = random.Next(-50, 100);
        Command("Counters", id)["Counters"] = new JsonObject
        {
            ["DocumentId"] = id,
            ["Operations"] = new JsonArray(
                new JsonObject { ["Type"] = deletes ? "Delete" : "Increment", ["CounterName"] = name, ["Delta"] = delta }),
        };
        Things = Things.SetItem(
            id,
            thing with
            {
                Counters = deletes
                    ? thing.Counters.Remove(name)
                    : thing.Counters.SetItem(name, thing.Counters.GetValueOrDefault(name) + delta)
            });
    }

    private void Measure(string id, Thing thing)
    {
        const long Start = 1_800_000_000_000;
        const int Times = 400;
        var appends = new JsonArray();
        var deletes = new JsonArray();
        ImmutableSortedDictionary<long, double> series = thing.Series;
        if (!series.IsEmpty && random.Next(4) == 0)
        {
            long from = Start + random.Next(Times), to = from + random.Next(Times / 4);
            deletes.Add(new JsonObject { ["From"] = TextOf(from), ["To"] = TextOf(to) });
            series = series.RemoveRange(series.Keys.Where(time => time >= from && time <= to));
        }
        else
        {
            int count = random.Next(1, 40);
            var times = new HashSet<long>();
            for (int i = 0; i < count; i++)
            {
                long time = Start + random.Next(Times);
                if (!times.Add(time))
                    continue;
                double value = random.Next(10_000) / 8.0;
                appends.Add(new JsonObject { ["Timestamp"] = TextOf(time), ["Values"] = new JsonArray(value) });
                series = series.SetItem(time, value);
            }
        }

        Command("TimeSeries", id)["TimeSeries"] = new JsonObject
        {
            ["Name"] = StormWriter.Series,
            ["Appends"] = appends,
            ["Deletes"] = deletes
        };
        Things = Things.SetItem(id, thing with { Series = series });
    }

    private static string TextOf(long milliseconds) =>
        DateTime.UnixEpoch.AddMilliseconds(milliseconds).ToString("yyyy-MM-ddTHH:mm:ss.fffffffZ", CultureInfo.InvariantCulture);

    private JsonObject Command(string type, string id)
    {
        var command = new JsonObject { ["Type"] = type, ["Id"] = id };
        _commands.Add((JsonNode)command);
        return command;
    }
}
