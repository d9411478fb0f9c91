using System.Text;
using System.Text.Json;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests.Patches;

/// <summary>Patches in a database: what they write, and that they write all of it or nothing.</summary>
public sealed class PatchTests : IAsyncDisposable
{
    private static readonly DatabaseOptions _options = new() { Computing = new TextComputingEngine() };

    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public PatchTests() => _database = Database.Open(_directory.Path, _options);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async ValueTask DisposeAsync()
    {
        await _database.DisposeAsync();
        _directory.Dispose();
    }

    /// <summary>A declared time series is of the transaction: it has what the script has appended.</summary>
    [Theory]
    [InlineData("s(this)", "[[60],[2]]")]
    [InlineData("s(i)", "[[60],[2]]")]
    [InlineData("s(id(this))", "[[60],[2]]")]
    [InlineData("s(o)", "[[90],[1]]")]
    [InlineData("s('items/none')", "")]
    [InlineData("s(load('items/none'))", "")]
    [InlineData("own()", "[[60],[2]]")]
    [InlineData("(timeseries(this, 'Heart').append('1970-01-01T00:01:00', 20), s(this))", "[[20],[3]]")]
    [InlineData("f(this)", "[[60],[2]]")]
    public async Task An_update_calls_declared_time_series(string call, string expected)
    {
        await PutAsync("items/1", """{"Other":"items/2","@metadata":{"@collection":"Items"}}""");
        await PutAsync("items/2", """{"@metadata":{"@collection":"Others"}}""");
        TimeSeriesPoint Point(int minutes, double value) => new(DateTime.UnixEpoch.AddMinutes(minutes), [value], null);
        await _database.WriteAsync(
            new WriteBatch().TimeSeries("items/1", "Heart", [Point(0, 60), Point(2, 70), Point(100, 1)])
                .TimeSeries("items/2", "Heart", [Point(5, 90)]),
            Cancel);
        IDocumentStore store = _database;
        Assert.Equal(1, await store.PatchByQueryAsync(
            "declare timeseries s(x) { from x.Heart between '1970-01-01' and $until select min(), count() } "
                + "declare timeseries own() { from Heart between '1970-01-01' and $until select min(), count() } "
                + "declare function f(x) { return s(x); } from Items as i load i.Other as o "
                + $"update {{ const r = {call}.Results; this.R = r.length === 0 ? [] : [r[0].Min, r[0].Count]; }}",
            new { until = "1970-01-01T01:00:00Z" }, Cancel));
        Assert.Equal(
            $"{{\"Other\":\"items/2\",\"R\":{(expected.Length == 0 ? "[]" : expected)}}}", Body("items/1"));
    }

    [Fact]
    public async Task A_store_patches_what_a_query_finds_by_a_script()
    {
        for (int i = 0; i < 1_500; i++)
            await PutAsync($"items/{i}", $"{{\"price\":{i},\"@metadata\":{{\"@collection\":\"Items\"}}}}");
        IDocumentStore store = _database;
        long changed = await store.PatchByQueryAsync(
            "from Items as i where i.price >= $least update { i.price += args.by; }", new { least = 300, by = 1 }, Cancel);
        Assert.Equal(1_200, changed);
        Assert.Equal(("{\"price\":299}", "{\"price\":301}"), (Body("items/299"), Body("items/300")));
        await Assert.ThrowsAsync<ScriptException>(
            () => store.PatchByQueryAsync("from Items update { throw 'no' }", cancellationToken: Cancel));
        await Assert.ThrowsAsync<InvalidQueryException>(
            () => store.PatchByQueryAsync("from Items", cancellationToken: Cancel));
        Assert.Equal("{\"price\":301}", Body("items/300"));
        Assert.Equal(
            2,
            await store.PatchByQueryAsync(
                "from Items as i where i.price in ($prices) update { i.price = args.to; }",
                new Dictionary<string, object?> { ["prices"] = new[] { 298, 301 }, ["to"] = 7 }, Cancel));
        using var parameters = JsonDocument.Parse("""{"price":299,"to":"none"}""");
        Assert.Equal(
            1,
            await store.PatchByQueryAsync(
                "from Items as i where i.price = $price update { i.price = args.to; }", parameters.RootElement, Cancel));
        Assert.Equal(("{\"price\":7}", "{\"price\":\"none\"}"), (Body("items/300"), Body("items/299")));

        string hostile = "7' or true or price = '7";
        Assert.Equal(
            0, await store.PatchByQueryAsync($"from Items where price = {hostile} update {{ this.price = 8; }}", Cancel));
        Assert.Equal(
            0,
            await _database.PatchByQueryAsync(
                $"from Items where price = {hostile} update {{ this.price = args.to; }}", new { to = 8 }, Cancel));
        Assert.Equal(
            1,
            await store.PatchByQueryAsync($"from Items where price = {"none"} update {{ this.price = {hostile}; }}", Cancel));
        Assert.Equal($"{{\"price\":\"{hostile}\"}}", Body("items/299"));
    }

    /// <summary>Functions that queries and patches share may call it, and scripts written for RavenDB do.</summary>
    [Fact]
    public async Task What_a_patch_includes_changes_nothing_and_is_no_error()
    {
        await PutAsync("users/1", """{"name":"Ada","@metadata":{"@collection":"Users"}}""");
        await PatchAsync(
            "users/1",
            """
            include('users/2', ['users/1', null]);
            includes.document('users/1');
            includes.cmpxchg('rate');
            includes.revisions('A:1');
            this.age = 36;
            """);
        Assert.Equal("""{"name":"Ada","age":36}""", Body("users/1"));
        await Assert.ThrowsAsync<ScriptException>(() => PatchAsync("users/1", "include(5);"));
    }

    [Fact]
    public async Task A_patch_reads_and_changes_time_series_in_its_batch()
    {
        await PutAsync("users/1", """{"name":"Ada","@metadata":{"@collection":"Users"}}""");
        await PatchAsync(
            "users/1",
            """
            const heart = timeseries(this, 'Heart');
            heart.append('2026-01-01T00:00:00Z', 60, 'watches/1');
            heart.append(new Date(Date.UTC(2026, 0, 2)), [61, 2]);
            heart.append('2026-01-03T00:00:00Z', [62]);
            heart.delete('2026-01-03T00:00:00Z', '2026-01-04T00:00:00Z');
            timeseries(id(this), 'INC:Likes').increment('2026-01-01T00:00:00Z', [2]);
            timeseries('users/1', 'INC:Likes').increment('2026-01-01T00:00:00Z', 3);
            this.Seen = heart.get();
            this.Late = heart.get('2026-01-02T00:00:00Z').length;
            this.None = timeseries(this, 'Nothing').get().length;
            """);
        Assert.Equal(
            """{"name":"Ada","Seen":[{"Timestamp":"2026-01-01T00:00:00.0000000Z","Values":[60],"Value":60,"Tag":"watches/1"},"""
                + """{"Timestamp":"2026-01-02T00:00:00.0000000Z","Values":[61,2],"Value":61,"Tag":null}],"Late":1,"None":0}""",
            Body("users/1"));
        using (DatabaseSnapshot snapshot = _database.BeginRead())
        {
            Assert.Equal([60.0, 61.0], snapshot.TimeSeries("users/1", "Heart").Select(point => point.Values[0]));
            Assert.Equal([5.0], snapshot.TimeSeries("users/1", "INC:Likes").Select(point => point.Values[0]));
        }

        foreach ((string script, string message) in ((string, string)[])
        [
            ("timeseries(this, 'Heart').append('soon', 1)", "a time"),
            ("timeseries(this, 'Heart').append(new Date(NaN), 1)", ""),
            ("timeseries(this, 'Heart').append('2026-01-01', ['x'])", "numbers"),
            ("timeseries(this, 'Heart').append('2026-01-01', NaN)", "finite"),
            ("timeseries(this, 'Heart').increment('2026-01-01', 1)", "INC:"),
            ("timeseries(this, 'INC:Likes').append('2026-01-01', 1)", "increment"),
            ("timeseries(this, 'Heart').delete('2026-01-02', '2026-01-01')", "ends before it begins"),
            ("timeseries('users/9', 'Heart').append('2026-01-01', 1)", "users/9"),
            ("timeseries(this).get()", "name"),
            ("attachments(this, 'a.txt')", "attachmentsFor"),
        ])
        {
            Exception error = await Assert.ThrowsAnyAsync<TreepieException>(
                () => PatchAsync("users/1", "timeseries(this, 'Heart').append('2026-05-01', 1);" + script));
            Assert.Contains(message, error.Message, StringComparison.Ordinal);
        }

        using DatabaseSnapshot after = _database.BeginRead();
        Assert.Equal(2, after.TimeSeries("users/1", "Heart").Count()); // nothing of a patch that failed
    }

    [Fact]
    public async Task A_patch_changes_what_it_says_and_keeps_the_rest_as_it_was_written()
    {
        await PutAsync(
            "items/1",
            """{"price":1.0,"big":1152921504606846977,"text":"\u00e9","@metadata":{"@collection":"Items","mine":"x"}}""");
        WriteResult result = await PatchAsync("items/1", "this.price += args.by; this.tags = ['a'];", """{"by":0.5}""");
        Assert.Equal(PatchStatus.Patched, result.Patch?.Status);
        Assert.Equal("""{"price":1.5,"big":1152921504606846977,"text":"\u00e9","tags":["a"]}""", Body("items/1"));
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet("items/1", out Document document));
        Assert.Equal("Items", document.CollectionName);
        Assert.Contains("\"mine\":\"x\"", Encoding.UTF8.GetString(document.Metadata), StringComparison.Ordinal);
        Assert.Equal(result.ChangeVector, document.ChangeVector);
    }

    [Fact]
    public async Task Each_outcome_has_its_status_and_only_changes_get_a_change_vector()
    {
        await PutAsync("items/1", """{"n":1}""");
        string before = ChangeVector("items/1");
        Assert.Equal(PatchStatus.NotModified, (await PatchAsync("items/1", "this.n = 1;")).Patch?.Status);
        Assert.Equal(before, ChangeVector("items/1"));
        Assert.Equal(PatchStatus.DocumentDoesNotExist, (await PatchAsync("items/2", "this.n = 1;")).Patch?.Status);
        var options = new PatchOptions
        {
            IfMissing = Patch.Compile("this.made = args.x;", _options),
            IfMissingArguments = JsonDocument.Parse("""{"x":7}""").RootElement
        };
        Assert.Equal(PatchStatus.Created, (await PatchAsync("items/2", "this.n = 1;", options: options)).Patch?.Status);
        Assert.Equal("""{"made":7}""", Body("items/2"));
        options = new PatchOptions { ExpectedChangeVector = "A:999-abcdefghijklmnopqrstuv", SkipsOtherChangeVectors = true };
        Assert.Equal(PatchStatus.Skipped, (await PatchAsync("items/1", "this.n = 2;", options: options)).Patch?.Status);
        await Assert.ThrowsAsync<ConcurrencyException>(
            () => PatchAsync("items/1", "this.n = 2;", options: options with { SkipsOtherChangeVectors = false }));
        Assert.Equal("""{"n":1}""", Body("items/1"));
    }

    [Fact]
    public async Task A_patch_puts_deletes_loads_and_counts_in_the_transaction_of_its_batch()
    {
        await PutAsync("a/1", """{"@metadata":{"@collection":"A"}}""");
        await PutAsync("b/1", """{"x":4}""");
        await PutAsync("c/1", "{}");
        await PatchAsync("a/1", """
            this.made = put('d/', { from: id(this), x: load('b/1').x + 1, '@metadata': { '@collection': 'D' } });
            this.seen = load(this.made).x;
            del('c/1');
            incrementCounter(this, 'likes', 5);
            incrementCounter(this, 'likes');
            this.likes = counter(this, 'likes');
            this.none = [load(''), counter(load('b/2'), 'likes'), counterRaw(null, 'likes')];
            output('done', this.seen);
            """);
        JsonElement a = JsonDocument.Parse(Body("a/1")).RootElement;
        Assert.Equal("""{"from":"a/1","x":5}""", Body(a.GetProperty("made").GetString() ?? ""));
        Assert.Equal((5, 6), (a.GetProperty("seen").GetInt32(), a.GetProperty("likes").GetInt32()));
        Assert.Equal("[null,null,null]", a.GetProperty("none").GetRawText());
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.False(snapshot.TryGet("c/1", out _));
        Assert.Equal(6, snapshot.Counter("a/1", "likes")?.Value);
    }

    [Fact]
    public async Task A_patch_that_fails_undoes_its_whole_batch_and_names_document_and_place()
    {
        await PutAsync("a/1", """{"n":1}""");
        Patch good = Patch.Compile("this.n++; put('new/1', {});", _options),
            bad = Patch.Compile("this.n = 5;\nthis.none.x = 1;", _options);
        ScriptException error = await Assert.ThrowsAsync<ScriptException>(
            () => _database.WriteAsync(new WriteBatch(_options).Put("p/1", "{}"u8).Patch("a/1", good).Patch("a/1", bad), Cancel));
        Assert.Contains("'a/1'", error.Message, StringComparison.Ordinal);
        Assert.Equal(2, error.Line);
        Assert.Equal("""{"n":1}""", Body("a/1"));
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.Equal(1, snapshot.DocumentCount);
    }

    [Fact]
    public async Task Patches_of_many_callers_lose_no_change()
    {
        await PutAsync("a/1", """{"n":0}""");
        Patch patch = Patch.Compile("this.n += 1;", _options);
        await Task.WhenAll(
            Enumerable.Range(0, 200)
                .Select(_ => Task.Run(() => _database.WriteAsync(new WriteBatch(_options).Patch("a/1", patch), Cancel))));
        Assert.Equal("""{"n":200}""", Body("a/1"));
    }

    [Fact]
    public void Without_an_engine_a_patch_is_refused_by_name() =>
        Assert.Contains(
            "Treepie.Computing", Assert.Throws<ScriptException>(() => Patch.Compile("", new DatabaseOptions())).Message,
            StringComparison.Ordinal);

    private Task<IReadOnlyList<WriteResult>> PutAsync(string id, string json) =>
        _database.WriteAsync(new WriteBatch(_options).Put(id, Encoding.UTF8.GetBytes(json)), Cancel);

    private async Task<WriteResult> PatchAsync(string id, string script, string? arguments = null, PatchOptions? options = null)
    {
        options = (options ?? new PatchOptions()) with
        {
            Arguments = arguments is null ? default : JsonDocument.Parse(arguments).RootElement
        };
        return (await _database.WriteAsync(
            new WriteBatch(_options).Patch(id, Patch.Compile(script, _options), options), Cancel))[0];
    }

    private string Body(string id)
    {
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet(id, out Document document), id);
        return Encoding.UTF8.GetString(document.Body);
    }

    private string ChangeVector(string id)
    {
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet(id, out Document document), id);
        return document.ChangeVector;
    }
}
