using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Kinds;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>
/// Indexes over time series and counters: their entries are what the maps make of these, whatever happens to them and to their
/// documents.
/// </summary>
public sealed class BesideIndexTests : IDisposable
{
    private static readonly DateTime _start = new(2026, 3, 1, 10, 0, 0, DateTimeKind.Utc);

    private readonly IndexRunner _run = new();

    public void Dispose() => _run.Dispose();

    [Theory]
    [InlineData(
        "from ts in timeSeries.Users.Heart from e in ts.Entries select new { Beat = e.Value, At = e.Timestamp, e.Tag, User = "
            + "ts.DocumentId }")]
    [InlineData(
        "timeSeries.Users.Heart.SelectMany(ts => ts.Entries, (ts, e) => new { Beat = e.Values[0], At = e.Timestamp, Tag = e.Tag, "
            + "User = ts.DocumentId })")]
    [InlineData(
        "timeSeries.map('Users', 'Heart', ts => ts.Entries.map(e => ({ Beat: e.Value, At: e.Timestamp, Tag: e.Tag, User: "
            + "ts.DocumentId })))")]
    public async Task Entries_of_a_time_series_are_found_as_long_as_they_are_there(string map)
    {
        _run.Define("Beats", map);
        await _run.PutAsync("users/1", "{}", "Users");
        await _run.PutAsync("users/2", "{}", "Users");
        await _run.PutAsync("dogs/1", "{}", "Dogs");
        await AppendAsync("users/1", "heart", (0, 60, "watch"), (1, 70, null));
        await AppendAsync("users/2", "Heart", (2, 80, null));
        await AppendAsync("users/1", "Steps", (0, 1000, null));
        await AppendAsync("dogs/1", "Heart", (0, 120, null));
        Assert.Equal(
            [
                """{"Beat":60,"At":"2026-03-01T10:00:00.0000000Z","Tag":"watch","User":"users/1"}""",
                """{"Beat":70,"At":"2026-03-01T10:01:00.0000000Z","Tag":null,"User":"users/1"}""",
                """{"Beat":80,"At":"2026-03-01T10:02:00.0000000Z","Tag":null,"User":"users/2"}""",
            ],
            await _run.AskAsync("from index Beats order by Beat as double"));
        Assert.Equal(
            ["""{"Beat":70}"""], await _run.AskAsync("from index Beats where Beat > 60 and User = 'users/1' select Beat"));
        await _run.Database.WriteAsync(
            new WriteBatch().TimeSeries("users/1", "Heart", [], [(_start, _start)]), TestContext.Current.CancellationToken);
        await AppendAsync("users/2", "Heart", (3, 90, null));
        Assert.Equal(
            ["""{"Beat":70}""", """{"Beat":80}""", """{"Beat":90}"""],
            await _run.AskAsync("from index Beats order by Beat as double select Beat", neverStale: true));
        Assert.Equal(
            ["""{"Beat":70}""", """{"Beat":80}""", """{"Beat":90}"""],
            await _run.AskAsync("from index Beats order by Beat as double select Beat"));
        await _run.DeleteAsync("users/2");
        Assert.Equal(["""{"Beat":70}"""], await _run.AskAsync("from index Beats select Beat", neverStale: true));
        Assert.Equal(["""{"Beat":70}"""], await _run.AskAsync("from index Beats select Beat"));
        Assert.Equal(IndexSourceType.TimeSeries, Assert.Single(_run.Database.Indexes.List()).Source);
    }

    [Theory]
    [InlineData("from c in counters.Users.Likes select new { c.Value, c.Name, User = c.DocumentId }")]
    [InlineData("counters.Users[\"likes\"].Select(c => new { c.Value, c.Name, User = c.DocumentId })")]
    [InlineData("counters.map('Users', 'likes', c => ({ Value: c.Value, Name: c.Name, User: c.DocumentId }))")]
    public async Task A_counter_is_found_by_its_last_value(string map)
    {
        await _run.PutAsync("users/1", "{}", "Users");
        await CountAsync("users/1", "Likes", 3);
        await CountAsync("users/1", "Dislikes", 1);
        _run.Define("Likes", map);
        await _run.PutAsync("users/1", """{"Changed":true}""", "Users");
        Assert.Equal(["""{"Value":3,"Name":"Likes","User":"users/1"}"""], await _run.AskAsync("from index Likes"));
        await CountAsync("users/1", "likes", 4);
        Assert.Equal(["""{"Value":7}"""], await _run.AskAsync("from index Likes where Value = 7 select Value"));
        Assert.Empty(await _run.AskAsync("from index Likes where Value = 3"));
        await _run.Database.WriteAsync(
            new WriteBatch().DeleteCounter("users/1", "Likes"), TestContext.Current.CancellationToken);
        Assert.Empty(await _run.AskAsync("from index Likes"));
        Assert.Equal(IndexSourceType.Counters, Assert.Single(_run.Database.Indexes.List()).Source);
    }

    [Fact]
    public async Task What_lies_beside_a_document_follows_it_into_another_collection_and_into_the_archive()
    {
        _run.Define("Users", "counters.map('Users', c => ({ Value: c.Value }))");
        _run.Define("All", "from c in counters select new { c.Value }");
        await _run.PutAsync("a", "{}", "Dogs");
        await CountAsync("a", "x", 1);
        await CountAsync("a", "y", 2);
        Assert.Empty(await _run.AskAsync("from index Users"));
        Assert.Equal(2, (await _run.AskAsync("from index All")).Count);
        await _run.DeleteAsync("a");
        await _run.PutAsync("a", "{}", "Users");
        await CountAsync("a", "x", 3);
        Assert.Equal(["""{"Value":3}"""], await _run.AskAsync("from index Users"));
        await ArchiveAsync(true);
        Assert.Empty(await _run.AskAsync("from index Users", neverStale: true));
        Assert.Empty(await _run.AskAsync("from index Users"));
        await ArchiveAsync(false);
        Assert.Equal(["""{"Value":3}"""], await _run.AskAsync("from index Users", neverStale: true));
        Assert.Equal(["""{"Value":3}"""], await _run.AskAsync("from index Users"));

        Task ArchiveAsync(bool archived) => _run.Database.WriteAsync(
            new WriteBatch().Put(
                "a",
                Encoding.UTF8.GetBytes(
                    $$$"""{"@metadata":{"@collection":"Users","@archived":{{{(archived ? "true" : "false")}}}}}""")),
            TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task Documents_loaded_by_tag_change_the_entries_of_a_series()
    {
        _run.Define(
            "Beats",
            "from ts in timeSeries.Users.Heart from e in ts.Entries let d = LoadDocument(e.Tag, \"Devices\") let u = "
                + "LoadDocument(ts.DocumentId, \"Users\") select new { e.Value, Device = d.Name, User = u.Name }");
        await _run.PutAsync("users/1", """{"Name":"Ann"}""", "Users");
        await AppendAsync("users/1", "Heart", (0, 60, "devices/1"), (1, 70, null));
        Assert.Equal(2, (await _run.AskAsync("from index Beats where User = 'Ann'")).Count);
        await _run.PutAsync("devices/1", """{"Name":"watch"}""", "Devices");
        Assert.Equal(["""{"Value":60}"""], await _run.AskAsync("from index Beats where Device = 'watch' select Value"));
        await _run.PutAsync("users/1", """{"Name":"Bob"}""", "Users");
        Assert.Empty(await _run.AskAsync("from index Beats where User = 'Ann'"));
        Assert.Equal(2, (await _run.AskAsync("from index Beats where User = 'Bob'")).Count);
    }

    [Theory]
    [InlineData(
        "from ts in timeSeries.Users.Heart from e in ts.Entries select new { Name = ts.DocumentId, Count = 1, Sum = e.Value }",
        "from r in results group r by r.Name into g select new { Name = g.Key, Count = g.Sum(x => x.Count), Sum = g.Sum(x => "
            + "x.Sum) }")]
    [InlineData(
        "timeSeries.map('Users', 'Heart', ts => ts.Entries.map(e => ({ Name: ts.DocumentId, Count: 1, Sum: e.Value })))",
        "groupBy(x => ({ Name: x.Name })).aggregate(g => ({ Name: g.key.Name, Count: g.values.reduce((s, v) => s + v.Count, 0), "
            + "Sum: g.values.reduce((s, v) => s + v.Sum, 0) }))")]
    public async Task Entries_of_time_series_are_reduced(string map, string reduce)
    {
        using JsonDocument json = JsonDocument.Parse(
            $"{{\"Name\":\"Sums\",\"Maps\":[{JsonSerializer.Serialize(map)}],\"Reduce\":{JsonSerializer.Serialize(reduce)}}}");
        _run.Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
        await _run.PutAsync("users/1", "{}", "Users");
        await AppendAsync("users/1", "Heart", (0, 1, null), (1, 2, null));
        await AppendAsync("users/1", "Heart", (2, 3, null));
        Assert.Equal(
            ["""{"Name":"users/1","Count":3,"Sum":6}"""], await _run.AskAsync("from index Sums", neverStale: true));
        Assert.Equal(["""{"Name":"users/1","Count":3,"Sum":6}"""], await _run.AskAsync("from index Sums"));
        await _run.Database.WriteAsync(
            new WriteBatch().TimeSeries("users/1", "Heart", [], [(_start, _start.AddMinutes(1))]),
            TestContext.Current.CancellationToken);
        Assert.Equal(["""{"Name":"users/1","Count":1,"Sum":3}"""], await _run.AskAsync("from index Sums"));
        await _run.DeleteAsync("users/1");
        Assert.Empty(await _run.AskAsync("from index Sums"));
    }

    [Fact]
    public async Task Several_maps_over_counters_are_one_index_and_other_kinds_are_refused_beside_them()
    {
        _run.Define(
            "Two",
            [
                "counters.map('Users', 'Likes', c => ({ V: c.Value }))",
                "from c in counters.Dogs.Bones select new { V = c.Value }",
            ]);
        await _run.PutAsync("users/1", "{}", "Users");
        await _run.PutAsync("dogs/1", "{}", "Dogs");
        foreach (string id in (string[])["users/1", "dogs/1"])
        {
            await CountAsync(id, "likes", 1);
            await CountAsync(id, "bones", 2);
        }

        Assert.Equal(["""{"V":1}""", """{"V":2}"""], await _run.AskAsync("from index Two order by V as long"));
        InvalidIndexDefinitionException error = Assert.Throws<InvalidIndexDefinitionException>(
            () => _run.Define("Mixed", ["map('Users', u => ({ V: u.V }))", "counters.map('Users', c => ({ V: c.Value }))"]));
        Assert.Contains("one of its maps is over documents, another over counters", error.Message, StringComparison.Ordinal);
        error = Assert.Throws<InvalidIndexDefinitionException>(
            () => _run.Define("Bad", "counters.map('Users', 5, c => ({ V: c.Value }))"));
        Assert.Contains("'counters.map' takes", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_index_built_in_steps_equals_one_built_at_once_whatever_was_written()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        _run.Define(
            "S", "from ts in timeSeries.Users from e in ts.Entries select new { N = ts.Name, D = ts.DocumentId, e.Value }");
        _run.Define("C", "from c in counters.Users select new { N = c.Name, D = c.DocumentId, c.Value }");
        for (int round = 0; round < 120; round++)
        {
            string id = $"d/{random.Next(6)}", name = $"n{random.Next(3)}";
            switch (random.Next(8))
            {
                case 0:
                    await _run.DeleteAsync(id);
                    break;
                case 1 or 2:
                    await PutAnyAsync(id, random.Next(3) == 0 ? "Dogs" : "Users", random.Next(4) == 0);
                    break;
                case 3:
                    await TryAsync(new WriteBatch().IncrementCounter(id, name, random.Next(1, 9)));
                    break;
                case 4:
                    await TryAsync(new WriteBatch().DeleteCounter(id, name));
                    break;
                case 5:
                    DateTime from = _start.AddSeconds(random.Next(2_000));
                    await TryAsync(new WriteBatch().TimeSeries(id, name, [], [(from, from.AddSeconds(random.Next(1_000)))]));
                    break;
                default:
                    await TryAsync(
                        new WriteBatch().TimeSeries(
                            id, name,
                            [
                                .. Enumerable.Range(0, random.Next(1, 400))
                                    .Select(_ => random.Next(2_000))
                                    .Distinct()
                                    .Select(at => new TimeSeriesPoint(_start.AddSeconds(at), [random.NextDouble()])),
                            ],
                            []));
                    break;
            }

            if (random.Next(4) == 0)
                await _run.WaitAsync();
            if (random.Next(30) == 0)
                _run.Reopen();
        }

        foreach (string index in (string[])["S", "C"])
        {
            IReadOnlyList<string> steps = await AllAsync(index);
            _run.Database.Indexes.Reset(index);
            Assert.Equal(await AllAsync(index), steps);
            Assert.Equal(Expected(index), steps);
        }

        async Task<IReadOnlyList<string>> AllAsync(string index)
        {
            await _run.WaitAsync();
            return [.. (await _run.AskAsync($"from index {index} limit 100000")).Order(StringComparer.Ordinal)];
        }

        async Task PutAnyAsync(string id, string collection, bool isArchived)
        {
            // Deleted first, it may come into another collection.
            WriteBatch batch = random.Next(2) == 0 ? new WriteBatch() : new WriteBatch().Delete(id);
            string archived = isArchived ? ",\"@archived\":true" : "";
            string json = $$$"""{"@metadata":{"@collection":"{{{collection}}}"{{{archived}}}}}""";
            await TryAsync(batch.Put(id, Encoding.UTF8.GetBytes(json)));
        }

        async Task TryAsync(WriteBatch batch)
        {
            try
            {
                await _run.Database.WriteAsync(batch, TestContext.Current.CancellationToken);
            }
            catch (Exception error) when (error is DocumentNotFoundException or InvalidDocumentException)
            {
                // Nothing can lie beside what is not there, and no document changes its collection.
            }
        }
    }

    private List<string> Expected(string index)
    {
        var rows = new List<string>();
        using Store.DatabaseSnapshot snapshot = _run.Database.BeginRead();
        for (int i = 0; i < 6; i++)
        {
            if (!snapshot.TryGet($"d/{i}", out Store.Document document) || document.CollectionName != "Users"
                || Store.DocumentArchive.IsArchived(document.Metadata))
                continue;
            string id = document.IdText();
            if (index == "C")
                rows.AddRange(snapshot.Counters(id).Select(c => Row(c.Name, id, c.Value.ToString(CultureInfo.InvariantCulture))));
            else
                foreach (TimeSeriesStatistics series in snapshot.TimeSeriesOf(id))
                    rows.AddRange(
                        snapshot.TimeSeries(id, series.Name)
                            .Select(e => Row(series.Name, id, JsonSerializer.Serialize(e.Values[0]))));
        }

        rows.Sort(StringComparer.Ordinal);
        return rows;

        static string Row(string name, string id, string value) => $$"""{"N":"{{name}}","D":"{{id}}","Value":{{value}}}""";
    }

    private async Task AppendAsync(string id, string name, params (int Minute, double Value, string? Tag)[] entries) =>
        await _run.Database.WriteAsync(
            new WriteBatch().TimeSeries(
                id, name,
                [.. entries.Select(e => new TimeSeriesPoint(_start.AddMinutes(e.Minute), [e.Value], e.Tag))], []),
            TestContext.Current.CancellationToken);

    private async Task CountAsync(string id, string name, long delta) => await _run.Database.WriteAsync(
        new WriteBatch().IncrementCounter(id, name, delta), TestContext.Current.CancellationToken);
}
