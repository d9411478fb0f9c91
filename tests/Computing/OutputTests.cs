using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Lifecycle;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>
/// Indexes that write what they reduce as documents: these are what the groups are, whatever happens, and nothing else is
/// touched.
/// </summary>
public sealed class OutputTests : IDisposable
{
    private const string Map = "from o in docs.Orders select new { o.City, o.Month, Total = o.Freight }";
    private const string Reduce =
        "from r in results group r by new { r.City, r.Month } into g select new { City = g.Key.City, Month = g.Key.Month, "
            + "Total = g.Sum(x => x.Total) }";
    private const string Pattern = "months/{Month:yyyy-MM}";

    private readonly IndexRunner _run = new();

    public void Dispose() => _run.Dispose();

    [Fact]
    public async Task Groups_are_documents_and_change_with_them()
    {
        await PutAsync("orders/1", "Bern", 1, 2);
        await PutAsync("orders/2", "Bern", 1, 3);
        await PutAsync("orders/3", "Rome", 2, 5);
        Define("Totals", "Sums", Pattern);
        Assert.Equal(["Bern 2026-01 5", "Rome 2026-02 5"], await OutputsAsync("Sums"));
        Assert.Equal(
            ["months/2026-01: Bern 2026-01 5", "months/2026-02: Rome 2026-02 5"], await ReferencesAsync("Sums/References"));

        await PutAsync("orders/2", "Rome", 2, 4); // another group, of another reference
        await PutAsync("orders/4", "Oslo", 2, 1);
        Assert.Equal(["Bern 2026-01 2", "Oslo 2026-02 1", "Rome 2026-02 9"], await OutputsAsync("Sums"));
        await _run.DeleteAsync("orders/1");
        Assert.Equal(["Oslo 2026-02 1", "Rome 2026-02 9"], await OutputsAsync("Sums"));
        Assert.Equal(["months/2026-02: Oslo 2026-02 1, Rome 2026-02 9"], await ReferencesAsync("Sums/References"));
        Assert.Equal(
            ["Artificial, FromIndex"],
            (await ReadAsync("Sums")).Select(row => row.GetProperty("@metadata").GetProperty("@flags").GetString()).Distinct());
    }

    [Fact]
    public async Task An_output_with_a_counter_says_both_in_its_flags_and_goes_on()
    {
        await PutAsync("orders/1", "Bern", 1, 2);
        Define("Totals", "Sums", null);
        string id = Assert.Single(await ReadAsync("Sums")).GetProperty("@metadata").GetProperty("@id").GetString() ?? "?";
        await _run.Database.WriteAsync(new WriteBatch().IncrementCounter(id, "Likes"), TestContext.Current.CancellationToken);
        await PutAsync("orders/2", "Bern", 1, 3);
        JsonElement metadata = Assert.Single(await ReadAsync("Sums")).GetProperty("@metadata");
        Assert.Equal(
            ["Artificial, FromIndex, HasCounters"],
            metadata.EnumerateObject().Where(one => one.Name == "@flags").Select(one => one.Value.GetString()));
        Assert.Equal(["Bern 2026-01 5"], await OutputsAsync("Sums"));
    }

    [Fact]
    public async Task An_output_that_stays_as_it_is_is_not_written_again()
    {
        await PutAsync("orders/1", "Bern", 1, 2);
        Define("Totals", "Sums", Pattern);
        await OutputsAsync("Sums");
        long before = LastEtag();
        _run.Reopen();
        await _run.WaitAsync();
        Assert.Equal(before, LastEtag());
        await PutAsync("orders/2", "Rome", 1, 2);
        await _run.WaitAsync();
        Assert.Equal(before + 3, LastEtag()); // the order, its output, and the list of the month
    }

    [Fact]
    public async Task What_changed_while_the_index_was_not_there_is_put_right_when_it_is_opened_or_replaced()
    {
        await PutAsync("orders/1", "Bern", 1, 2);
        await PutAsync("orders/2", "Rome", 2, 2);
        Define("Totals", "Sums", Pattern);
        await OutputsAsync("Sums");
        string bern = (await ReadAsync("Sums")).Single(row => row.GetProperty("City").GetString() == "Bern")
            .GetProperty("@metadata").GetProperty("@id").GetString() ?? "?";
        await _run.DeleteAsync(bern); // by somebody who should not
        await _run.DeleteAsync("months/2026-02");
        _run.Reopen();
        Assert.Equal(["Bern 2026-01 2", "Rome 2026-02 2"], await OutputsAsync("Sums"));
        Assert.Equal(2, (await ReferencesAsync("Sums/References")).Count);

        Define("Totals", "Sums", "cities/{City}", map: Map.Replace("o.Freight", "o.Freight * 10", StringComparison.Ordinal));
        Assert.Equal(["Bern 2026-01 20", "Rome 2026-02 20"], await OutputsAsync("Sums"));
        Assert.Equal(["cities/Bern: Bern 2026-01 20", "cities/Rome: Rome 2026-02 20"], await ReferencesAsync("Sums/References"));

        Assert.True(_run.Database.Indexes.Delete("Totals"));
        await PutAsync("orders/1", "Oslo", 1, 2);
        Assert.Equal(2, (await OutputsAsync("Sums")).Count); // they stay, as documents
        Define("Totals", "Sums", null);
        Assert.Equal(["Oslo 2026-01 2", "Rome 2026-02 2"], await OutputsAsync("Sums"));
    }

    [Fact]
    public async Task Outputs_are_written_while_the_rest_of_the_database_is_still_opened()
    {
        var cancel = TestContext.Current.CancellationToken;
        await PutAsync("orders/1", "Bern", 1, 2);
        Define("Totals", "Sums", Pattern);
        string output = Assert.Single(await ReadAsync("Sums")).GetProperty("@metadata").GetProperty("@id").GetString() ?? "?";
        await _run.Database.Lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings(), cancel); // which has a timer
        await _run.DeleteAsync(output);
        _run.Database.Dispose();
        var clock = new SlowToOpen();
        using var database = Database.Open(
            _run.Folder, new DatabaseOptions { Computing = new TextComputingEngine(), TimeProvider = clock });
        clock.IsOpen = true;
        Assert.True(await database.Indexes.WaitForNonStaleAsync(TimeSpan.FromSeconds(30), null, cancel));
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet(output, out _));
    }

    [Fact]
    public async Task A_document_that_no_index_has_made_is_neither_overwritten_nor_deleted()
    {
        await PutAsync("orders/1", "Bern", 1, 2);
        await _run.PutAsync("months/2026-01", """{"Mine":true}""", "Sums/References");
        await _run.PutAsync("sums/mine", """{"City":"Bern","Month":"2026-01-01T00:00:00.0000000"}""", "Sums");
        Define("Totals", "Sums", Pattern);
        await _run.WaitAsync();
        _run.Reopen();
        await _run.WaitAsync();
        Assert.Equal(["""{"Mine":true}"""], await _run.AskAsync("from 'Sums/References'"));
        Assert.Equal(["""{"c":2}"""], await _run.AskAsync("from Sums group by City select count() as c"));
        Assert.Contains("months/2026-01", Assert.Single(await WarningsAsync("from index Totals")), StringComparison.Ordinal);
        await _run.DeleteAsync("orders/1");
        await _run.WaitAsync();
        Assert.Equal(["""{"Mine":true}"""], await _run.AskAsync("from 'Sums/References'"));
    }

    [Fact]
    public async Task A_group_whose_reference_cannot_be_named_is_an_error_of_the_group_alone()
    {
        await PutAsync("orders/1", "Bern", 1, 2);
        await _run.PutAsync("orders/2", """{"City":"Rome","Month":"soon","Freight":1}""", "Orders");
        Define("Totals", "Sums", Pattern);
        Assert.Equal(["Bern 2026-01 2", "Rome soon 1"], await OutputsAsync("Sums"));
        Assert.Equal(["months/2026-01: Bern 2026-01 2"], await ReferencesAsync("Sums/References"));
        Assert.Contains("'soon'", Assert.Single(_run.Database.Indexes.Errors("Totals")).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Other_indexes_take_outputs_for_what_they_are_documents()
    {
        await PutAsync("orders/1", "Bern", 1, 2);
        Define("Totals", "Sums", null);
        Define(
            "Cities", "CitySums", null, "from s in docs.Sums select new { s.City, s.Total }",
            "from r in results group r by r.City into g select new { City = g.Key, Total = g.Sum(x => x.Total) }");
        await PutAsync("orders/2", "Bern", 2, 3);
        await _run.WaitAsync(); // for the order
        await _run.WaitAsync(); // for its output
        Assert.Equal(["""{"City":"Bern","Total":5}"""], await _run.AskAsync("from CitySums"));
    }

    [Theory]
    [InlineData("Orders", null, "which it reads")]
    [InlineData("orders", null, "which it reads")]
    [InlineData("@all", null, "no '@' in front")]
    [InlineData("Sums", "months", "one field or more")]
    [InlineData("Sums", "months/{Month", "no other")]
    [InlineData("Sums", "months/{Year}", "'Year'")]
    [InlineData("Sums", "months/{Month:D999999999}", "not a format")]
    public void What_would_read_what_it_writes_or_cannot_be_written_is_refused(string collection, string? pattern, string message)
    {
        InvalidIndexDefinitionException error = Assert.Throws<InvalidIndexDefinitionException>(
            () => Define("Totals", collection, pattern));
        Assert.Contains(message, error.Message, StringComparison.Ordinal);
        Assert.Empty(_run.Database.Indexes.List());
    }

    [Fact]
    public void Indexes_that_would_feed_each_other_are_refused()
    {
        const string group =
            "from r in results group r by r.City into g select new { City = g.Key, Total = g.Sum(x => x.Total) }";
        Define("Totals", "Sums", null);
        Define("Cities", "CitySums", null, "from s in docs.Sums select new { s.City, s.Total }", group);
        Assert.Contains(
            "'Cities'",
            Assert.Throws<InvalidIndexDefinitionException>(() => Define(
                "Totals", "Sums", null, Map.Replace("docs.Orders", "docs.CitySums", StringComparison.Ordinal))).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "never come to an end",
            Assert.Throws<InvalidIndexDefinitionException>(() => Define(
                "Loads", "Loaded", null,
                "from o in docs.Orders let l = LoadDocument(o.Last, \"Loaded\") select new { l.City, Total = 1 }", group)).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "'Totals' writes",
            Assert.Throws<InvalidIndexDefinitionException>(() => Define("Other", "Sums", null)).Message,
            StringComparison.Ordinal);
        Assert.Equal(2, _run.Database.Indexes.List().Count);
    }

    [Fact]
    public async Task Outputs_of_random_documents_are_what_LINQ_says_whatever_stops_the_index()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        Define("Totals", "Sums", Pattern);
        var there = new SortedDictionary<string, (string City, int Month, int Freight)>(StringComparer.Ordinal);
        for (int step = 0; step < 25; step++)
        {
            for (int i = random.Next(40); i > 0; i--)
            {
                string id = $"orders/{random.Next(200)}";
                if (random.Next(3) == 0)
                {
                    there.Remove(id);
                    await _run.DeleteAsync(id);
                    continue;
                }

                there[id] = ($"c{random.Next(9)}", random.Next(1, 6), random.Next(1000));
                await PutAsync(id, there[id].City, there[id].Month, there[id].Freight);
            }

            switch (random.Next(6))
            {
                case 0:
                    _run.Reopen(); // in the middle of whatever it is doing
                    break;
                case 1:
                    _run.Database.Indexes.Reset("Totals");
                    break;
                case 2:
                    int factor = random.Next(1, 3);
                    Define(
                        "Totals", "Sums", Pattern,
                        Map.Replace("o.Freight", $"o.Freight * {factor} / {factor}", StringComparison.Ordinal));
                    break;
            }

            string[] groups = [.. there.Values.GroupBy(order => (order.City, order.Month))
                .Select(
                    group => string.Create(
                        CultureInfo.InvariantCulture,
                        $"{group.Key.City} 2026-{group.Key.Month:00} {group.Sum(order => order.Freight)}"))
                .Order(StringComparer.Ordinal)];
            string[] months = [.. groups.GroupBy(group => group.Split(' ')[1])
                .OrderBy(month => month.Key, StringComparer.Ordinal)
                .Select(month => $"months/{month.Key}: {string.Join(", ", month)}")];
            IReadOnlyList<string> outputs = await OutputsAsync("Sums"), references = await ReferencesAsync("Sums/References");
            Assert.True(groups.SequenceEqual(outputs), $"seed {seed}: {string.Join("; ", outputs)}");
            Assert.True(months.SequenceEqual(references), $"seed {seed}: {string.Join("; ", references)}");
        }
    }

    [Fact]
    public async Task Outputs_are_right_after_the_store_of_the_index_fell_back_to_an_earlier_state()
    {
        // A loss of power may take back the last commits of an index, while the documents that it has written stay.
        int seed = Seed.Next();
        var random = new Random(seed);
        using var copy = new TemporaryDirectory();
        string indexes = Path.Combine(_run.Folder, "indexes");
        Define("Totals", "Sums", Pattern);
        for (int round = 0; round < 12; round++)
        {
            await ChangeAsync();
            await _run.WaitAsync();
            _run.Database.Dispose();
            string state = Path.Combine(copy.Path, $"{round}");
            Copy(indexes, state);
            _run.Reopen();
            await ChangeAsync();
            await _run.WaitAsync();
            if (random.Next(2) == 0)
                await ChangeAsync();
            _run.Database.Dispose();
            Directory.Delete(indexes, recursive: true);
            Copy(state, indexes);
            _run.Reopen();
            await ChangeAsync();
            IReadOnlyList<string> expected = await SumsAsync();
            Assert.True(expected.SequenceEqual(await OutputsAsync("Sums")), $"seed {seed}, round {round}");
            string[] referred = [.. (await ReferencesAsync("Sums/References")).SelectMany(one => one.Split(": ")[1].Split(", "))];
            Assert.True(expected.SequenceEqual(referred.Order(StringComparer.Ordinal)), $"seed {seed}, round {round}");
        }

        async Task ChangeAsync()
        {
            for (int i = random.Next(1, 8); i > 0; i--)
                if (random.Next(3) == 0)
                    await _run.DeleteAsync($"orders/{random.Next(20)}");
                else
                    await PutAsync($"orders/{random.Next(20)}", $"c{random.Next(9)}", random.Next(1, 6), random.Next(1000));
        }
    }

    private static void Copy(string from, string to)
    {
        foreach (string file in Directory.EnumerateFiles(from, "*", SearchOption.AllDirectories))
        {
            string target = Path.Combine(to, Path.GetRelativePath(from, file));
            Directory.CreateDirectory(Path.GetDirectoryName(target) ?? to);
            File.Copy(file, target);
        }
    }

    /// <summary>What the outputs have to be.</summary>
    private async Task<IReadOnlyList<string>> SumsAsync() =>
        [.. (await ReadAsync("Orders"))
            .GroupBy(one => (one.GetProperty("City").GetString(), Month: one.GetProperty("Month").GetString()?[..7]))
            .Select(
                group => string.Create(
                    CultureInfo.InvariantCulture,
                    $"{group.Key.Item1} {group.Key.Month} {group.Sum(one => one.GetProperty("Freight").GetInt32())}"))
            .Order(StringComparer.Ordinal)];

    private Task PutAsync(string id, string city, int month, int freight) => _run.PutAsync(
        id,
        string.Create(
            CultureInfo.InvariantCulture,
            $"{{\"City\":\"{city}\",\"Month\":\"2026-{month:00}-01T00:00:00.0000000\",\"Freight\":{freight}}}"),
        "Orders");

    private void Define(string name, string collection, string? pattern, string map = Map, string reduce = Reduce)
    {
        using JsonDocument json = JsonDocument.Parse(JsonSerializer.Serialize(new Dictionary<string, object?>
        {
            ["Name"] = name,
            ["Maps"] = new[] { map },
            ["Reduce"] = reduce,
            ["Fields"] = new Dictionary<string, object>(),
            ["OutputReduceToCollection"] = collection,
            ["PatternForOutputReduceToCollectionReferences"] = pattern,
        }));
        _run.Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
    }

    private long LastEtag()
    {
        using DatabaseSnapshot snapshot = _run.Database.BeginRead();
        return snapshot.LastEtag;
    }

    private async Task<IReadOnlyList<string>> WarningsAsync(string text)
    {
        using QueryResults results = await _run.Database.QueryAsync(
            new QueryRequest { Text = text, WaitForNonStaleResults = true, WaitTimeout = Eventually.Patience },
            TestContext.Current.CancellationToken);
        return results.Warnings;
    }

    /// <summary>The documents of a collection, when all indexes have caught up.</summary>
    private async Task<IReadOnlyList<JsonElement>> ReadAsync(string collection)
    {
        await _run.WaitAsync();
        var rows = new List<JsonElement>();
        using DatabaseSnapshot snapshot = _run.Database.BeginRead();
        using ChangeFeed feed = snapshot.Changes(collection, 0);
        while (feed.MoveNext())
        {
            if (feed.IsTombstone)
                continue;
            var output = new ArrayBufferWriter<byte>();
            feed.Document.WriteTo(output);
            rows.Add(JsonDocument.Parse(output.WrittenMemory).RootElement.Clone());
        }

        return rows;
    }

    private async Task<IReadOnlyList<string>> OutputsAsync(string collection) =>
        [.. (await ReadAsync(collection)).Select(Text).Order(StringComparer.Ordinal)];

    private async Task<IReadOnlyList<string>> ReferencesAsync(string collection)
    {
        IReadOnlyList<JsonElement> rows = await ReadAsync(collection);
        using DatabaseSnapshot snapshot = _run.Database.BeginRead();
        var texts = new List<string>();
        foreach (JsonElement row in rows)
        {
            var outputs = new List<string>();
            foreach (JsonElement id in row.GetProperty("ReduceOutputs").EnumerateArray())
                outputs.Add(
                    snapshot.TryGet(id.GetString(), out Document output)
                        ? Text(JsonDocument.Parse(Encoding.UTF8.GetString(output.Body)).RootElement)
                        : "missing");
            outputs.Sort(StringComparer.Ordinal);
            texts.Add($"{row.GetProperty("@metadata").GetProperty("@id").GetString()}: {string.Join(", ", outputs)}");
        }

        texts.Sort(StringComparer.Ordinal);
        return texts;
    }

    private static string Text(JsonElement output)
    {
        string month = output.GetProperty("Month").GetString() ?? "";
        return $"{output.GetProperty("City").GetString()} {(month.Length > 7 ? month[..7] : month)} "
            + output.GetProperty("Total").GetRawText();
    }

    /// <summary>Makes whoever opens wait at each timer, so that indexes are ahead of what is opened behind them.</summary>
    private sealed class SlowToOpen : TimeProvider
    {
        private readonly int _opens = Environment.CurrentManagedThreadId;

        public bool IsOpen { get; set; }

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            if (!IsOpen && Environment.CurrentManagedThreadId == _opens)
                Thread.Sleep(500);
            return base.CreateTimer(callback, state, dueTime, period);
        }
    }
}
