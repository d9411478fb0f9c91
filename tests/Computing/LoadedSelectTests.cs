using System.Text.Json;
using Treepie.Kinds;
using Treepie.Queries;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>What queries select and filter of documents that <c>load</c> brings.</summary>
public sealed class LoadedSelectTests : IDisposable
{
    private const string Body =
        """
        "Ship To":"x","Order":7,"Big":9007199254740993,"Huge":1152921504606846976,"One":1.0,"E":1e2,"Price":2.50,"Null":null,
        "ShipTo":{"City":"Bern","Name":"Ann"},"Tags":["a","b"],"Empty":[],
        "Lines":[{"P":1.0,"Q":[1,2]},{"P":"\u0041","Q":[]},{},null,3,[{"P":5}]]
        """;

    private readonly IndexRunner _run = new();

    [Theory]
    [InlineData("select id(c) as C, id(o) as O, id() as I", """{"C":"companies/1","O":"orders/1","I":"orders/1"}""")]
    [InlineData("filter id(c) = 'companies/1' select id(o) as O", """{"O":"orders/1"}""")]
    [InlineData("filter id(c) = 'orders/1' or id(o) = 'companies/1' select id(o) as O", "")]
    public async Task The_id_is_that_of_the_document_named(string query, string expected)
    {
        await FillAsync();
        Assert.Equal(expected, string.Join(' ', await _run.AskAsync($"from Orders as o load o.Company as c {query}")));
    }

    [Theory]
    [InlineData("from Orders as o filter id('x') = 'orders/1'")]
    [InlineData("from Orders as o filter id(o.Company) = 'orders/1'")]
    [InlineData("from Orders as o load o.Company as c select id('x') as X, c.Name")]
    [InlineData("from Orders as o load o.Company as c select o.Name, c.Name")]
    [InlineData("declare function f(o) { return 1; } from Orders as o select f(o), o.f")]
    [InlineData("declare function f(o) { return 1; } from Orders as o select f(o) as '@metadata', o.Order")]
    public async Task What_cannot_be_selected_beside_the_rest_is_refused(string query)
    {
        await FillAsync();
        await Assert.ThrowsAsync<InvalidQueryException>(() => _run.AskAsync(query));
    }

    [Theory]
    [InlineData("o.Big, o.Huge, o.One, o.E, o.Price")]
    [InlineData("o.'Ship To', 'Order', o.Order as Plain, o.ShipTo.City, ShipTo.Name as N, o.ShipTo")]
    [InlineData("o.Missing, o.Missing.X, o.Missing[].X, o.Null, o.Null.X, o.Order.X")]
    [InlineData("o.Lines[].P, o.Lines[].Q, o.Lines.P as Bare, o.Lines[1].P, o.Lines[9].P, o.Lines[1], o.Lines")]
    [InlineData("o.Tags, o.Tags[], o.Tags[0], o.Tags[7], o.Empty, o.Empty[].X")]
    [InlineData("id(), id(o) as Me, 1, 1.0 as Number, true, null as Nothing, $p, $p as Given")]
    [InlineData("o.@metadata.@collection, @metadata.@id as Id, o.@metadata as Whole")]
    [InlineData("o, o.Order, o as Again")]
    [InlineData("counter(o, 'Likes'), counter(o.Company, 'Likes') as Theirs, cmpxchg('key')")]
    [InlineData("distinct o.Order")]
    public async Task The_same_is_selected_beside_load_and_declared_functions(string items)
    {
        await FillAsync();
        string wanted = Assert.Single(await AskAsync($"from Orders as o select {items}"));
        const string Declared = "declare function f(x) { return x.Order; } ";
        Assert.Equal(wanted, Assert.Single(await AskAsync($"from Orders as o load o.Company as c select {items}")));
        Assert.Equal(wanted, Assert.Single(await AskAsync($"{Declared}from Orders as o filter f(o) = 7 select {items}")));
        Assert.Equal(
            $"{wanted[..^1]},\"Last\":7}}",
            Assert.Single(await AskAsync($"{Declared}from Orders as o load o.Company as c select {items}, f(o) as Last")));
    }

    [Theory]
    [InlineData(".Big")]
    [InlineData(".One")]
    [InlineData(".'Ship To'")]
    [InlineData(".ShipTo.City")]
    [InlineData(".ShipTo")]
    [InlineData(".Missing")]
    [InlineData(".Null.X")]
    [InlineData(".Lines[].P")]
    [InlineData(".Lines[].Q")]
    [InlineData(".Lines.P")]
    [InlineData(".Lines[1].P")]
    [InlineData(".Lines[9].P")]
    [InlineData(".Tags")]
    [InlineData(".Empty[].X")]
    [InlineData(".@metadata.@collection")]
    [InlineData("")]
    public async Task A_path_means_the_same_in_a_loaded_document(string path)
    {
        await FillAsync();
        Assert.Equal(
            await _run.AskAsync($"from Orders as o select o{path} as V"),
            await _run.AskAsync($"from Orders as o load o.Self as s select s{path} as V"));
    }

    [Theory]
    [InlineData("c.Name, p.Name as Owner, p.Age", """{"Name":"Alfreds","Owner":"Ann","Age":1.50}""")]
    [InlineData(
        "fs[].Name as Names, fs.Age as Ages, fs[0].Name as First", """{"Names":["Ann","Bob"],"Ages":[1.50],"First":"Ann"}""")]
    [InlineData(
        "fs[9].Name as N, ones[].Name as Ones, gone, gone.X as X, id(gone) as G",
        """{"N":null,"Ones":["Ann"],"gone":null,"X":null,"G":null}""")]
    [InlineData(
        "counter(p, 'Likes') as L, counter(c.Owner, 'Likes') as O, counter(gone, 'Likes') as G",
        """{"L":3,"O":3,"G":null}""")]
    [InlineData("given.Name, id(fs) as Ids", """{"Name":"Bob","Ids":["people/1","people/2"]}""")]
    [InlineData("size(p) as S, size(gone) as G, c.Name", """{"S":2,"G":0,"Name":"Alfreds"}""")]
    [InlineData("found.Name", """{"Name":"Ann"}""")]
    public async Task Documents_are_loaded_by_ids_in_loaded_ones_by_lists_and_by_parameters(string items, string expected)
    {
        await FillAsync();
        Assert.Equal(
            [expected],
            await AskAsync(
                "declare function size(x) { return x === null ? 0 : Object.keys(x).length - 1; } "
                    + "declare function owner(x) { return x.Owner; } from Orders as o "
                    + "load o.Company as c, c.Owner as p, c.Friends as fs[], c.Owner as ones[], o.Missing as gone, $id as given, "
                    + $"owner(c) as found select {items}"));
    }

    [Theory]
    [InlineData("c.Name as N, counter(c, 'Likes') as L, id(c) as I")]
    [InlineData("counter(c, 'Likes') as L, c.Name as N, id(c) as I")]
    [InlineData("id(c) as I, counter(c, 'Likes') as L, c.Name as N")]
    public async Task A_document_is_loaded_by_what_an_index_computes_in_any_order(string items)
    {
        await FillAsync();
        _run.Define(
            "Owners", "map('Orders', o => ({ OwnerId: 'people/' + (o.Order - 6) }))", """{"OwnerId":{"Storage":"Yes"}}""");
        await _run.WaitAsync();
        string row = Assert.Single(await AskAsync($"from index 'Owners' as o load o.OwnerId as c select {items}"));
        Assert.Contains("\"N\":\"Ann\"", row, StringComparison.Ordinal);
        Assert.Contains("\"L\":3", row, StringComparison.Ordinal);
        Assert.Contains("\"I\":\"people/1\"", row, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("filter fs[].Name = 'ann'", 1)]
    [InlineData("filter fs[].Name = 'none'", 0)]
    [InlineData("filter fs[0].Name = 'Ann' and c.Name = 'alfreds'", 1)]
    public async Task A_filter_looks_at_each_of_several_loaded_documents(string filter, int count)
    {
        await FillAsync();
        Assert.Equal(
            count,
            (await _run.AskAsync($"from Orders as o load o.Company as c, c.Friends as fs[] {filter} select c.Name")).Count);
    }

    [Theory]
    [InlineData("timeseries(from p.Heart select count()) as S")]
    [InlineData("c.Name, timeseries(from p.Heart select count()) as S")]
    [InlineData("h(p) as S")]
    [InlineData("h(c.Owner) as S")]
    [InlineData("h('people/1') as S")]
    [InlineData("h($person) as S, c.Name")]
    [InlineData("call(p) as S")]
    public async Task A_time_series_is_that_of_the_document_named(string items)
    {
        await FillAsync();
        await _run.Database.WriteAsync(
            new WriteBatch().TimeSeries("people/1", "Heart", [new TimeSeriesPoint(DateTime.UnixEpoch, [60], null)]),
            TestContext.Current.CancellationToken);
        string row = Assert.Single(
            await AskAsync(
                "declare timeseries h(x) { from x.Heart select count() } declare function call(x) { return h(x); } "
                    + $"from Orders as o load o.Company as c, c.Owner as p select {items}"));
        Assert.Contains("\"Count\":[1]", row, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(
        "select { Big: o.Big, One: o.One, E: o.E, In: [{ Huge: o.Huge }], Sum: o.One + 1 }",
        """{"Big":9007199254740993,"One":1.0,"E":1e2,"In":[{"Huge":1152921504606846976}],"Sum":2}""")]
    [InlineData("select f(o, s)", """{"Big":9007199254740993,"Lines":[1.0,"A",null],"Price":2.50,"Double":5}""")]
    [InlineData(
        "select { Given: $p, Loaded: load('orders/1').E, Least: o.Lines.map(l => l && l.P)[0] }",
        """{"Given":1e1,"Loaded":1e2,"Least":1.0}""")]
    public async Task A_number_that_a_script_only_moves_keeps_its_spelling(string select, string expected)
    {
        await FillAsync();
        const string Function =
            "declare function f(o, s) { return { Big: s.Big, Lines: s.Lines.slice(0, 3).map(l => l.P ?? null), "
                + "...{ Price: o.Price }, Double: o.Price * 2 }; } ";
        string row = Assert.Single(await AskAsync($"{Function}from Orders as o load o.Self as s {select}"));
        Assert.Equal(expected, row.Replace("\"\\u0041\"", "\"A\"", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("select distinct { F: o.One, In: [o.One] }")]
    [InlineData("select distinct same(o.One) as F")]
    [InlineData("select distinct o.One, same(o.One) as F")]
    public async Task Rows_of_a_script_are_distinct_by_their_values_however_numbers_are_spelled(string select)
    {
        await FillAsync();
        await _run.PutAsync("orders/2", """{"One":1}""", "Orders");
        await _run.PutAsync("orders/3", """{"One":1.0}""", "Orders");
        await _run.PutAsync("orders/4", """{"One":10e-1}""", "Orders");
        await _run.PutAsync("orders/5", """{"One":1.5}""", "Orders");
        List<string> rows = await AskAsync($"declare function same(x) {{ return x; }} from Orders as o {select}");
        Assert.Equal(2, rows.Count);
        Assert.Contains("1.0", rows[0], StringComparison.Ordinal);
        Assert.Contains("1.5", rows[1], StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_etag_of_an_answer_changes_with_a_loaded_document()
    {
        await FillAsync();
        const string Query = "from Orders as o load o.Company as c select c.Name";
        long first = await EtagAsync(Query);
        Assert.Equal(first, await EtagAsync(Query));
        await _run.PutAsync("companies/1", """{"Name":"Other"}""", "Companies");
        Assert.NotEqual(first, await EtagAsync(Query));
    }

    [Fact]
    public async Task Fields_of_loaded_documents_need_no_engine_for_scripts()
    {
        await FillAsync();
        _run.Reopen(new DatabaseOptions());
        Assert.Equal(
            ["""{"Big":9007199254740993,"Name":"Alfreds","Names":["Ann","Bob"]}"""],
            await AskAsync("from Orders as o load o.Company as c, c.Friends as fs[] select o.Big, c.Name, fs[].Name as Names"));
        await Assert.ThrowsAsync<InvalidQueryException>(
            () => AskAsync("from Orders as o load o.Company as c select { Name: c.Name }"));
    }

    public void Dispose() => _run.Dispose();

    private async Task<long> EtagAsync(string query)
    {
        using QueryResults results = await _run.QueryAsync(query);
        return results.ResultEtag;
    }

    /// <summary>Rows as they are written, without the metadata of the results.</summary>
    private async Task<List<string>> AskAsync(string text)
    {
        using var parameters = JsonDocument.Parse("""{"p":1e1,"id":"people/2","person":"people/1"}""");
        using QueryResults results = await _run.Database.QueryAsync(
            new QueryRequest { Text = text, Parameters = parameters.RootElement }, TestContext.Current.CancellationToken);
        var rows = new List<string>();
        while (results.MoveNext())
        {
            var json = new System.Buffers.ArrayBufferWriter<byte>();
            results.WriteCurrent(json);
            string row = System.Text.Encoding.UTF8.GetString(json.WrittenSpan);
            rows.Add(row[..row.LastIndexOf(",\"@metadata\"", StringComparison.Ordinal)] + "}");
        }

        return rows;
    }

    private async Task FillAsync()
    {
        await _run.PutAsync("orders/1", $$"""{"Company":"companies/1","Self":"orders/1",{{Body}}}""", "Orders");
        await _run.PutAsync(
            "companies/1",
            """{"Name":"Alfreds","Address":{"City":"Ulm"},"Owner":"people/1","Friends":["people/1","people/2"]}""", "Companies");
        await _run.PutAsync("people/1", """{"Name":"Ann","Age":1.50}""", "People");
        await _run.PutAsync("people/2", """{"Name":"Bob"}""", "People");
        await _run.Database.WriteAsync(
            new WriteBatch().IncrementCounter("people/1", "Likes", 3), TestContext.Current.CancellationToken);
    }
}
