using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Oracle;

/// <summary>A database and what it must hold, from its first document to its last query.</summary>
internal sealed class OracleRun : IAsyncDisposable
{
    /// <summary>The index that is defined by hand, and the fields that it has under the names of their paths.</summary>
    private const string OwnIndex = "Docs/Own";

    /// <summary>The document that each batch writes, with the number of the batch.</summary>
    private const string MarkerId = "other/1";

    private static readonly string[] _own =
    [
        "Name", "Age", "Mixed", "Tags", "Flag", "Address.City", "Address.Zip", "Lines.Product", "Lines.Qty", "Long", "Missing",
        "Score", "Rank",
    ];

    private readonly Random _random;
    private readonly OracleQueries _make;
    private readonly Func<Database> _open;
    private readonly CrashingMachine? _machine;
    private Dictionary<string, OracleDocument> _documents = new(StringComparer.Ordinal);
    private Dictionary<string, OracleDocument>? _unacknowledged; // what a batch makes of them that is being written
    private Database _database;
    private long _batches;

    /// <summary>Begins with an empty database.</summary>
    /// <param name="random">What everything is drawn from.</param>
    /// <param name="open">Opens the database, each time the same one.</param>
    /// <param name="machine">The machine that it runs on, if that may lose power.</param>
    public OracleRun(Random random, Func<Database> open, CrashingMachine? machine = null)
    {
        _random = random;
        _make = new OracleQueries(random);
        _open = open;
        _machine = machine;
        _database = open();
    }

    /// <summary>The queries whose answers were compared, of pages of one query all together.</summary>
    public int Asked { get; private set; }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private bool HasOwnIndex => _database.Indexes.Definitions().Any(static one => one.Name == OwnIndex);

    /// <summary>Changes documents, asks queries and disturbs the database, again and again.</summary>
    public async Task RunAsync(int states, int queriesOfState)
    {
        for (; states > 0; states--)
        {
            await ChangeAsync(Cancel);
            bool hasOwn = HasOwnIndex;
            for (int i = 0; i < queriesOfState; i++)
                await (hasOwn && _random.Next(16) == 0 ? CompareOwnAsync() : CompareAsync());
            await DisturbAsync();
        }
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    /// <summary>Whatever happens to a database between two queries.</summary>
    private async Task DisturbAsync()
    {
        if (_machine is not null && _random.Next(2) == 0)
        {
            await EndSuddenlyAsync(_machine);
            return;
        }

        string[] indexes = IndexNames();
        switch (_random.Next(8))
        {
            case 0:
                ResetOne();
                break;
            case 1 when indexes.Length > 0:
                _database.Indexes.Delete(indexes[_random.Next(indexes.Length)]);
                break;
            case 2:
                await _database.DisposeAsync();
                _database = _open();
                break;
            case 3:
                // Indexes are made of documents: of one that is lost only time is lost.
                string folder = _database.DataDirectory;
                await _database.DisposeAsync();
                string[] stores = Directory.GetDirectories(Path.Combine(folder, "indexes"));
                if (stores.Length > 0)
                    Directory.Delete(stores[_random.Next(stores.Length)], recursive: true);
                _database = _open();
                break;
            case 4:
                // The end comes while indexes take what was written last, one is built anew and one is given a field.
                await ChangeAsync(Cancel);
                if (_random.Next(2) == 0)
                    ResetOne();
                Task asked = _random.Next(2) == 0
                    ? AskInPassingAsync(new QueryRequest { Text = NextText(), WaitTimeout = TimeSpan.Zero })
                    : Task.CompletedTask;
                await _database.DisposeAsync();
                await asked;
                _database = _open();
                break;
            case 5:
                // A definition of other fields in another order takes the place of the one before, here or while it is closed.
                DefineOwn();
                if (_random.Next(2) == 0)
                    break;
                await _database.DisposeAsync();
                _database = _open();
                break;
        }
    }

    /// <summary>
    /// Documents are written, indexes built, reset and given fields, until the power fails or the process is killed in the middle
    /// of it. Then the database has what it acknowledged, and the batch that was being written as a whole or not at all.
    /// </summary>
    private async Task EndSuddenlyAsync(CrashingMachine machine)
    {
        machine.FailWithin(1 << _random.Next(3, 11));
        try
        {
            for (int step = _random.Next(1, 6); step > 0; step--)
            {
                await ChangeAsync(Cancel);
                if (_random.Next(4) == 0)
                    ResetOne();
                if (_random.Next(4) == 0)
                    DefineOwn();
                using QueryResults indexed = await _database.QueryAsync(
                    new QueryRequest
                    {
                        Text = NextText(),
                        WaitForNonStaleResults = _random.Next(4) > 0,
                        WaitTimeout = Eventually.Patience
                    },
                    machine.Off);
            }
        }
        catch (Exception) when (machine.Off.IsCancellationRequested)
        {
            // What it broke off is seen below.
        }

        await machine.EndAsync(_database, losesPower: _random.Next(3) > 0);
        _database = _open();
        using DatabaseSnapshot snapshot = _database.BeginRead();
        long last = snapshot.TryGet(MarkerId, out Document marker)
            ? JsonNode.Parse(marker.Body)?["Batch"]?.GetValue<long>() ?? 0
            : 0;
        if (_unacknowledged is not null && last == _batches)
            _documents = _unacknowledged;
        else if (_unacknowledged is not null)
            _batches--;
        _unacknowledged = null;
        Assert.True(last == _batches, $"of {_batches} acknowledged batches the database has {last}");
    }

    private string[] IndexNames() => [.. _database.Indexes.List().Select(static index => index.Name)];

    private void ResetOne()
    {
        string[] indexes = IndexNames();
        try
        {
            if (indexes.Length > 0)
                _database.Indexes.Reset(indexes[_random.Next(indexes.Length)]);
        }
        catch (IndexNotFoundException)
        {
            // A new definition of an index has just taken the place of the one before.
        }
    }

    private string NextText() => $"from Docs where {_make.Condition(1).Text}";

    private void DefineOwn()
    {
        string[] fields = [.. _own, $"New{_random.Next(3)}"];
        _random.Shuffle(fields);
        _database.Indexes.Put(
            new IndexDefinition
            {
                Name = OwnIndex,
                Collections = ["Docs"],
                Fields = [.. fields.Select(static name => new IndexFieldDefinition { Name = name })],
            });
    }

    /// <summary>Asks without waiting, of a database that may end meanwhile.</summary>
    private async Task AskInPassingAsync(QueryRequest request)
    {
        try
        {
            using QueryResults results = await _database.QueryAsync(request, CancellationToken.None);
        }
        catch (Exception error) when (error is ObjectDisposedException or OperationCanceledException or TimeoutException)
        {
            // the end was faster
        }
    }

    private async Task ChangeAsync(CancellationToken cancel)
    {
        using var batch = new WriteBatch();
        var next = new Dictionary<string, OracleDocument>(_documents, StringComparer.Ordinal);
        foreach (string id in Enumerable.Range(0, _random.Next(1, 25)).Select(_ => $"docs/{_random.Next(50)}").Distinct())
        {
            if (_random.Next(4) == 0)
            {
                batch.Delete(id);
                next.Remove(id);
                continue;
            }

            JsonObject document = _make.Document();
            next[id] = new OracleDocument(id, document);
            JsonObject stored = document.DeepClone().AsObject();
            stored["@metadata"] = new JsonObject { ["@collection"] = "Docs" };
            batch.Put(id, Encoding.UTF8.GetBytes(stored.ToJsonString()));
        }

        batch.Put(
            MarkerId,
            Encoding.UTF8.GetBytes(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $$$"""{"Name":"anna","Batch":{{{++_batches}}},"@metadata":{"@collection":"Others"}}""")));
        _unacknowledged = next;
        await _database.WriteAsync(batch, cancel);
        (_documents, _unacknowledged) = (next, null);
    }

    /// <summary>A condition over fields of the index that is defined by hand, which finds what a scan finds.</summary>
    private async Task CompareOwnAsync()
    {
        OracleCondition condition;
        do
            condition = _make.Condition(1);
        while (condition.Text.Contains("exact(", StringComparison.Ordinal)
            || condition.Text.Contains("[]", StringComparison.Ordinal)
            || condition.Text.Contains("Ship To", StringComparison.Ordinal));
        string text = $"from index '{OwnIndex}' where {condition.Text}";
        (List<string> found, long total) = await AskAsync(text);
        Compare(text, Hits(condition), found);
        Verify(total == found.Count, text);
    }

    private async Task CompareAsync()
    {
        OracleCondition condition = _make.Condition(3);
        List<OracleOrder> orders = _make.Orders();
        string text = $"from Docs where {condition.Text}"
            + (orders.Count == 0 ? "" : $" order by {string.Join(", ", orders.Select(static order => order.Text))}");
        List<OracleDocument> expected = Hits(condition);
        (List<string> found, long total) = await AskAsync(text, neverStale: _random.Next(3) == 0);
        Compare(text, expected, found);
        Verify(total == found.Count, text);
        for (int i = 1; i < found.Count; i++)
        {
            OracleDocument before = _documents[found[i - 1]], after = _documents[found[i]];
            int order = 0;
            for (int key = 0; order == 0 && key < orders.Count; key++)
                order = orders[key].Compare(before, after);
            if (order > 0)
                Assert.Fail($"{text}\n{before}\nstands before\n{after}");
        }

        if (_random.Next(6) == 0)
            await CountAsync(condition.Text, expected);
        if (_random.Next(6) == 0)
            await TellApartAsync("from Docs", [.. _documents.Values]);
        if (_random.Next(6) == 0)
            await TellApartAsync($"from Docs where {condition.Text}", expected);
        if (_random.Next(6) == 0)
            await GoOnAsync(text, found, size: _random.Next(1, 20));
        if (_random.Next(3) == 0)
        {
            string filter = $"from Docs filter {condition.Text}";
            Compare(filter, expected, (await AskAsync(filter)).Ids);
        }

        if (_random.Next(4) > 0)
            return;
        (int skip, int take) = (_random.Next(found.Count + 2), _random.Next(10));
        (List<string> page, total) = await AskAsync($"{text} limit {skip}, {take}");
        Verify(found.Skip(skip).Take(take).SequenceEqual(page) && total == found.Count, $"{text} limit {skip}, {take}");
    }

    private List<OracleDocument> Hits(OracleCondition condition)
    {
        var hits = new List<OracleDocument>();
        foreach (OracleDocument document in _documents.Values)
            if (condition.Holds(document))
                hits.Add(document);
        return hits;
    }

    /// <summary>Fails where other documents were found than expected, or one twice, and shows two of them.</summary>
    private void Compare(string text, List<OracleDocument> expected, List<string> found)
    {
        var missing = expected.Select(static document => document.Id).ToHashSet(StringComparer.Ordinal);
        if (found.TrueForAll(missing.Remove) && missing.Count == 0)
            return;
        List<string> added = [.. found];
        added.RemoveAll(id => expected.Exists(document => document.Id == id) && added.Count(other => other == id) == 1);
        Assert.Fail(
            $"{text}\nmissing {string.Join(' ', missing)}\nadded {string.Join(' ', added)}\n"
                + string.Join('\n', missing.Concat(added).Take(2).Select(id => _documents.GetValueOrDefault(id))));
    }

    private static void Verify(bool isRight, string text)
    {
        if (!isRight)
            Assert.Fail(text);
    }

    /// <summary>Counts the terms of a field among the hits.</summary>
    private async Task CountAsync(string condition, List<OracleDocument> hits)
    {
        (string path, Func<OracleDocument, IEnumerable<string>> terms) = _make.Facet();
        string text = $"from Docs where {condition} select facet({path})";
        string[] expected = [
            .. hits.SelectMany(terms)
                .GroupBy(static term => term)
                .Select(static group => $"{group.Key} {group.Count()}")];
        using QueryResults results = await QueryAsync(new QueryRequest { Text = text });
        var row = new ArrayBufferWriter<byte>();
        Verify(results.MoveNext(), text);
        results.WriteCurrent(row);
        string[] counted = [
            .. JsonNode.Parse(row.WrittenSpan)!["Values"]!.AsArray() // a row of a facet
                .Select(static value => $"{value!["Range"]} {value["Count"]}")];
        if (!expected.Order(StringComparer.Ordinal).SequenceEqual(counted.Order(StringComparer.Ordinal)))
            Assert.Fail(
                $"{text}\nmissing {string.Join('|', expected.Except(counted))}\n"
                    + $"added {string.Join('|', counted.Except(expected))}");
    }

    /// <summary>Reads the different values of a field among the hits.</summary>
    private async Task TellApartAsync(string text, List<OracleDocument> hits)
    {
        (string path, Func<OracleDocument, string> value) = _make.Row();
        HashSet<string> expected = [.. hits.Select(value)];
        int most = _random.Next(2) == 0 ? _random.Next(1, 8) : int.MaxValue;
        text += $" select distinct {path} as Row" + (most < int.MaxValue ? $" limit {most}" : "");
        using QueryResults results = await QueryAsync(new QueryRequest { Text = text });
        var rows = new List<string>();
        var json = new ArrayBufferWriter<byte>();
        while (results.MoveNext())
        {
            json.ResetWrittenCount();
            results.WriteCurrent(json);
            rows.Add(OracleValue.Whole(JsonNode.Parse(json.WrittenSpan)?["Row"]));
        }

        if (!expected.IsSupersetOf(rows)
            || rows.Distinct().Count() != rows.Count
            || rows.Count != Math.Min(most, expected.Count))
            Assert.Fail(
                $"{text}\nmissing {string.Join('|', expected.Except(rows))}\nadded {string.Join('|', rows.Except(expected))}");
        if (rows.Count < most)
            Verify(results.SkippedResults == hits.Count - rows.Count && results.TotalResults == hits.Count, text);
    }

    /// <summary>Reads page after page, each going on where the one before ended.</summary>
    private async Task GoOnAsync(string text, List<string> found, int size)
    {
        var seen = new List<string>();
        string? place = null;
        do
        {
            using QueryResults results = await QueryAsync(
                new QueryRequest { Text = text, PageSize = size, WithContinuation = true, Continuation = place });
            while (results.MoveNext())
                seen.Add(results.Current.IdText());
            place = results.Continuation;
        }
        while (place is not null);

        Verify(found.SequenceEqual(seen), $"{text} in pages of {size}");
    }

    private async Task<(List<string> Ids, long Total)> AskAsync(string text, bool neverStale = false)
    {
        using QueryResults results = await QueryAsync(new QueryRequest { Text = text, NeverStale = neverStale });
        Verify(!results.IsStale, text);
        var ids = new List<string>();
        while (results.MoveNext())
            ids.Add(results.Current.IdText());
        return (ids, results.TotalResults);
    }

    /// <summary>Runs a query that sees all documents, and counts it unless it continues another.</summary>
    private Task<QueryResults> QueryAsync(QueryRequest request)
    {
        if (request.Continuation is null)
            Asked++;
        return _database.QueryAsync(
            request with { WaitForNonStaleResults = !request.NeverStale, WaitTimeout = Eventually.Patience }, Cancel);
    }
}
