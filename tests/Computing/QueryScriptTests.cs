using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Indexing.Plans;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>JavaScript in queries: select, declared functions, load and filter.</summary>
public sealed class QueryScriptTests : IAsyncLifetime
{
    private static readonly DatabaseOptions _options = new() { Computing = new TextComputingEngine() };

    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public QueryScriptTests() => _database = Database.Open(_directory.Path, _options);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        using var batch = new WriteBatch(_options);
        batch.Put("companies/1", """{"Name":"Alfreds","City":"Berlin","@metadata":{"@collection":"Companies"}}"""u8.ToArray());
        for (int i = 0; i < 10; i++)
            batch.Put($"orders/{i}", Encoding.UTF8.GetBytes(
                """{"Company":"companies/#2","Freight":#.50,"Tags":["T#","x"],"Lines":[{"P":"p#","N":#},{"P":"q","N":2}],"@metadata":{"@collection":"Orders"}}"""
                    .Replace("#2", $"{i % 2}", StringComparison.Ordinal).Replace("#", $"{i}", StringComparison.Ordinal)));
        await _database.WriteAsync(batch, Cancel);
    }

    public async ValueTask DisposeAsync()
    {
        await _database.DisposeAsync();
        _directory.Dispose();
    }

    [Theory]
    [InlineData(
        "from Orders as o where o.Freight < 2 order by o.Freight as double select { F: o.Freight * 2, N: o.Lines.map(l => "
            + "l.N).reduce((a, b) => a + b, 0) }",
            """[{"F":1,"N":2},{"F":3,"N":3}]""")]
    [InlineData(
        "declare function f(o, by) { return { Id: id(o), F: o.Freight + by }; } from Orders as o where id() = 'orders/3' select "
            + "f(o, $by)",
        """[{"Id":"orders/3","F":13.5}]""")]
    [InlineData(
        "declare function f(o) { return o.Lines.map(l => ({ P: l.P })); } from Orders as o where id() = 'orders/3' select f(o)",
        """[{"P":"p3"},{"P":"q"}]""")]
    [InlineData(
        "declare function f(o, by) { return o.Freight * by; } from Orders as o where f(o, 2) > 16 and o.Freight < 9 "
            + "select o.Freight",
        """[{"Freight":8.50}]""")]
    [InlineData(
        "declare function f(o) { return o.Freight > 8; } from Orders as o where f(o) order by o.Freight as double "
            + "select o.Freight",
        """[{"Freight":8.50},{"Freight":9.50}]""")]
    [InlineData(
        "declare function rank(o, by) { return o.Lines[0].N % by; } from Orders as o where o.Freight < 4 order by rank(o, 2) desc, "
            + "rank(o, 3) desc select o.Freight",
        """[{"Freight":1.50},{"Freight":3.50},{"Freight":2.50},{"Freight":0.50}]""")]
    [InlineData(
        "declare function rank(o) { return -o.Freight; } from Orders as o where o.Freight < 2 order by rank(o) filter rank(o) < -0.7 "
            + "select { R: rank(o) }",
        """[{"R":-1.5}]""")]
    [InlineData(
        "declare function f(o) { return o.Freight > 8; } from Orders as o filter f(o) select o.Freight",
        """[{"Freight":8.50},{"Freight":9.50}]""")]
    [InlineData(
        "declare function f(o) { return o.Freight; } from Orders as o where id() = 'orders/3' select f(o) as F, o.Company",
        """[{"F":3.50,"Company":"companies/1"}]""")]
    [InlineData(
        "declare function length(o) { return 'mine'; } from Orders as o where id() = 'orders/3' select length(o) as L, "
            + "count(o.Lines) as N",
        """[{"L":"mine","N":2}]""")]
    [InlineData(
        "declare timeseries year(x) { from x.Heart } from Orders as o where id() = 'orders/3' select year(o) as Y, o.Company",
        """[{"Y":{"Results":[],"Count":0},"Company":"companies/1"}]""")]
    [InlineData(
        "from Orders as o where id() = 'orders/1' load o.Company as c select { Name: c.Name, City: c.City }",
        """[{"Name":"Alfreds","City":"Berlin"}]""")]
    [InlineData(
        "from Orders as o where id() = 'orders/1' load o.Company as c select c.Name, o.Freight as F, o.Lines[].P as P",
        """[{"Name":"Alfreds","F":1.50,"P":["p1","q"]}]""")]
    [InlineData(
        "from Orders as o where id() = 'orders/0' load o.Company as c select { Name: c == null ? 'none' : c.Name }",
        """[{"Name":"none"}]""")]
    [InlineData("from Orders filter Freight >= 3 and Freight <= 4.5 and Tags = 't3'", """["orders/3"]""")]
    [InlineData("from Orders filter Freight < Lines[].N", """["orders/0","orders/1"]""")]
    [InlineData("from Orders as o where o.Freight < 3 filter o.Lines[].N >= o.Freight", """["orders/0","orders/1"]""")]
    [InlineData("from Orders filter Lines[].P in ('P2', 'p4') and not Company = 'COMPANIES/9'", """["orders/2","orders/4"]""")]
    [InlineData(
        "from Orders filter Freight between 2 and 3.5 or startsWith(Tags, 'T9')", """["orders/2","orders/3","orders/9"]""")]
    [InlineData(
        "from Orders where Freight < 100 order by Freight as double filter Company = 'companies/1' limit 2 offset 1",
        """["orders/3","orders/5"]""")]
    [InlineData(
        "from Orders where Freight < 100 order by Freight as double filter Company = 'companies/1' limit 10 filter_limit 4",
        """["orders/1","orders/3"]""")]
    [InlineData(
        "from Orders as o where o.Freight < 3 select distinct { C: o.Company }", """[{"C":"companies/0"},{"C":"companies/1"}]""")]
    [InlineData(
        "declare function f(o) { return o.Lines.map(l => ({ P: l.P })); } from Orders as o where o.Freight < 100 order by "
            + "o.Freight as double select f(o) limit 1, 1",
        """[{"P":"p1"},{"P":"q"}]""")]
    [InlineData(
        "declare function f(o) { return o.Lines.map(l => ({ P: l.P })); } from Orders as o select f(o) limit 1, 1",
        """[{"P":"p1"},{"P":"q"}]""")]
    [InlineData(
        "declare function f(o) { return o.Freight > 1 ? { F: o.Freight } : null; } from Orders as o select f(o) limit 2",
        """[{"F":1.50}]""")]
    [InlineData(
        "from Orders as o where id() = 'orders/1' load o.Company as cs[] select { N: cs.map(c => c.Name) }",
        """[{"N":["Alfreds"]}]""")]
    [InlineData(
        "declare function f(o) { o.Tags = null; o.Lines = 1; return o; } from Orders as o where id() = 'orders/1' select f(o)",
        """[{"Company":"companies/1","Freight":1.50,"Tags":null,"Lines":1}]""")]
    [InlineData("from Orders as o where id() = 'orders/1' select { A: undefined, B: null, C: $by }", """[{"B":null,"C":10}]""")]
    public async Task A_query_computes_what_its_text_says(string text, string expected)
    {
        List<string> rows = await AskAsync(text);
        if (text.Contains("distinct", StringComparison.Ordinal))
            rows.Sort(StringComparer.Ordinal);
        Assert.Equal(expected, $"[{string.Join(',', rows)}]");
    }

    [Theory]
    [InlineData("from Orders as o select { F: o.Fright, C: o.Company }", "Fright")]
    [InlineData("from Orders select { F: this.Fright ?? this.Freight }", "Fright")]
    [InlineData("from Orders as o load o.Company as c select { F: o.Freight, N: c.Nmae }", null)]
    [InlineData("from Orders as o select { F: o.Freight, L: o.Lines.map(o => o.Q) }", null)]
    public async Task Members_that_no_document_has_are_named(string query, string? field)
    {
        using QueryResults results = await _database.QueryAsync(new QueryRequest { Text = query }, Cancel);
        if (field is null)
            Assert.Empty(results.Warnings);
        else
            Assert.Equal(
                $"No document of 'Orders' has a field '{field}'. Did you mean 'Freight'?", Assert.Single(results.Warnings));
    }

    [Fact]
    public async Task Values_of_declared_functions_are_counted()
    {
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest
            {
                Text = "declare function rank(o) { return o.Lines[0].N % 3; } from Orders as o where o.Freight > 1 "
                    + "select facet(rank(o), max(o.Freight)), facet(rank(o)) as Again",
                WaitForNonStaleResults = true
            }, Cancel);
        var rows = new List<string>();
        while (results.MoveNext())
        {
            var row = new ArrayBufferWriter<byte>();
            results.WriteCurrent(row);
            rows.Add(Encoding.UTF8.GetString(row.WrittenSpan));
        }

        Assert.StartsWith(
            """{"Name":"rank","Values":[{"Range":"0","Count":3,"Name":"Freight","Max":9.5},{"Range":"1","Count":3,"Name":"Freight","Max":7.5},""",
            rows[0], StringComparison.Ordinal);
        Assert.StartsWith("""{"Name":"Again","Values":[{"Range":"0","Count":3},""", rows[1], StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Freight >= 3 and Freight <= 4.5 and Tags = 't3'")]
    [InlineData("Lines[].P in ('P2', 'p4') and not Company = 'COMPANIES/9'")]
    [InlineData("Freight between 2 and 3.5 or startsWith(Tags, 'T9')")]
    [InlineData("any(Lines as l, l.P = 'q' and l.N = 2)")]
    [InlineData("any(Lines as l, l.P = 'q' and l.N > 2)")]
    [InlineData("any(Lines as l, l.N = 2 and not l.P = 'q')")]
    [InlineData("any(Lines[].P as p, p = 'p3') or any(Tags as t, t = 'T5')")]
    [InlineData("any(Lines as l, any(l.P as p, p != 'q' and endsWith(p, '4')) and l.N > 1)")]
    [InlineData("any(Missing as m, true)")]
    [InlineData("true and not exists(Missing) and exists(Tags) and Tags all in ('x', 'T7')")]
    [InlineData("regex(Company, '/1$') and Lines[1].N = 2 and id() != 'orders/1'")]
    [InlineData("Missing = null and Missing.Inner = null and Lines[].Missing = null and true and not Freight = null")]
    [InlineData("regex(Tags, 'T[3-5]')")]
    [InlineData("Tags all in ($list) and Freight in ($numbers)")]
    [InlineData("exact(Company = 'companies/1') and not exact(Company = 'Companies/1')")]
    [InlineData("exact(regex(Company, 'C')) or exact(startsWith(Tags, 'T3'))")]
    [InlineData("Freight = '3.5' or startsWith(Freight, '4') or regex(Freight, '^5') or endsWith(Freight, '.25')")]
    [InlineData("Freight > '3' and Freight <= '4.5' and not Freight = 'x'")]
    [InlineData("Open = 'TRUE' and Open = true and Open != false and startsWith(Open, 't')")]
    [InlineData("At = '2024-01-01T00:00:00.0000000' and At < '2024-01-01T00:00:00.0000001Z'")]
    public async Task A_filter_means_the_same_with_and_without_a_script(string condition)
    {
        await FillMoreAsync();
        List<string> plain = await AskAsync($"from Orders filter {condition} select id() as Id");
        const string Yes = "declare function yes(o) { return true; } from Orders as o filter";
        Assert.Equal(plain, await AskAsync($"{Yes} id() = 'none' or (yes(o) and ({condition})) select id() as Id"));
        Assert.Equal(plain, await AskAsync($"{Yes} yes(o) and ({condition}) select id() as Id"));
    }

    [Theory]
    [InlineData("Name = 'strasse'", "1")]
    [InlineData("startsWith(Name, 'K')", "2")]
    [InlineData("Name < '😀' and Name > 'z'", "3 5")] // UTF-8 has an order of its own
    [InlineData("Name in ('STRASSE', 'ıı', 'GROẞ')", "1 5 6")]
    [InlineData("Name != 'ii'", "1 2 3 4 5 6 7")]
    [InlineData("Name = Same and Name != null", "1")]
    [InlineData("Name >= Name", "1 2 3 4 5 6")]
    [InlineData("Name = Name", "1 2 3 4 5 6")] // an object equals nothing
    public async Task Texts_and_objects_are_equal_with_and_without_a_script(string condition, string expected)
    {
        string[] names =
        [
            "\"ſtrasse\",\"Same\":\"STRASSE\"", "\"\u212Aelvin\"", "\"Ａ\"", "\"😀\"", "\"ıı\"", "\"Groß\"", "{\"A\":1}",
        ];
        using var batch = new WriteBatch(_options);
        for (int i = 0; i < names.Length; i++)
            batch.Put(
                $"names/{i + 1}",
                Encoding.UTF8.GetBytes($"{{\"Name\":{names[i]},\"@metadata\":{{\"@collection\":\"Names\"}}}}"));
        await _database.WriteAsync(batch, Cancel);
        string[] ids = [.. expected.Split(' ').Select(static number => $"{{\"Id\":\"names/{number}\"}}")];
        Assert.Equal(ids, await AskAsync($"from Names filter {condition} select id() as Id"));
        Assert.Equal(
            ids,
            await AskAsync(
                $"declare function yes(o) {{ return true; }} from Names as o filter id() = 'none' or (yes(o) and ({condition})) "
                    + "select id() as Id"));
    }

    [Theory]
    [InlineData("regex(Tags, 'T[3-5]')", 4)]
    [InlineData("Freight = '3.5' or startsWith(Freight, '4') or regex(Freight, '^6')", 3)]
    [InlineData("Freight > '3' and Freight <= '4.5' and not Freight = 'x'", 2)]
    [InlineData("Open = 'TRUE' and Open = true and Open != false and startsWith(Open, 't')", 1)]
    [InlineData("At = '2024-01-01T00:00:00.0000000'", 1)]
    [InlineData("Zip = 5 or Zip = '7'", 1)]
    [InlineData("Big = 9007199254740993 or Big = '9007199254740993'", 1)]
    public async Task A_filter_means_what_it_means_after_where(string condition, int count)
    {
        await FillMoreAsync();
        List<string> filtered = await AskAsync($"from Orders filter {condition} select id() as Id");
        Assert.Equal((await AskAsync($"from Orders where {condition} select id() as Id")).Order(), filtered.Order());
        Assert.Equal(count, filtered.Count);
    }

    [Theory]
    [InlineData("from Orders as o select { A: o. }", 1, "cannot be read")]
    [InlineData("from Orders\nselect { A: Freight }", 2, "as 'from' does: from Orders as o select { Name: o.Company }")]
    [InlineData("from Orders as o\nselect {\n A: o.Freight,,\n}", 3, "cannot be read")]
    [InlineData("declare function f(o) {\n return o.a.b.c;\n}\nfrom Orders as o select f(o)", 2, "orders/")]
    [InlineData("from Orders as o select { A: (() => { while (true) {} })() }", 0, "statements")]
    [InlineData("from Orders as o select { A: put('x', {}) }", 0, "'put' changes documents")]
    [InlineData("from Orders filter search(Tags, 'x')", 1, "asked of an index")]
    [InlineData("from Orders filter_limit 5", 1, "no 'filter'")]
    [InlineData("from Orders as o where search(o.A, 'x') or counter(o, 'Likes') > 3", 1, "filter counter(u, 'Likes') > 3")]
    [InlineData("from Orders as o\norder by timeseries(o, 'Heart') as long", 2, "index over them")]
    [InlineData("from Orders as o where timeseries(o, 'Heart') > 3", 1, "timeSeries.map(")]
    [InlineData("from Orders update { this.a = 1 }", 1, "patches by query")]
    [InlineData("declare function f(o) { return 1; }\nfrom Orders as o where search(o.A, 'x') or f(o)", 2, "function of this query")]
    [InlineData("declare function f(o) { return 1; }\nfrom Orders as o where search(o.A, 'x') or f(o) = 1", 2, "function of this query")]
    [InlineData("from Orders as o\nwhere length(c.Name) > 3 load o.Company as c", 2, "declare function isLong(c)")]
    [InlineData("from Orders as o load o.Company as c\nfilter length(c.Name) > 3", 2, "for a loaded document")]
    [InlineData("from Orders where\ncount(Lines as l, l.N > 1) = cmpxchg('a')", 2, "value or a declared function, cannot have it")]
    public async Task What_cannot_be_computed_is_refused_with_its_place(string text, int line, string words)
    {
        TreepieException error = await Assert.ThrowsAnyAsync<TreepieException>(() => AskAsync(text));
        Assert.Contains(words, error.Message, StringComparison.Ordinal);
        if (line > 0)
            Assert.Equal(line, error is ScriptException script ? script.Line : ((InvalidQueryException)error).Line);
    }

    [Theory]
    [InlineData(1, null, 5)]
    [InlineData(0, null, 5)]
    [InlineData(1, 4, 2)]
    public async Task A_filter_counts_what_passes_even_beyond_the_page(int take, int? limit, int total)
    {
        using QueryResults results = await QueryAsync(
            $"from Orders filter Company = 'companies/1' limit {take}{(limit is null ? "" : $" filter_limit {limit}")}", default);
        int given = 0;
        while (results.MoveNext())
            given++;
        Assert.Equal((take, total, true), (given, results.TotalResults, results.IsTotalExact));
    }

    /// <summary>What the message about counters in a condition advises.</summary>
    [Fact]
    public async Task A_filter_looks_at_counters()
    {
        await _database.WriteAsync(
            new WriteBatch().IncrementCounter("orders/3", "Likes", 4).IncrementCounter("orders/4", "Likes", 3), Cancel);
        Assert.Equal(["\"orders/3\""], await AskAsync("from Orders as o filter counter(o, 'Likes') > 3"));
        Assert.Equal(["\"orders/3\""], await AskAsync("from Orders as o where counter(o, 'Likes') > 3 and o.Freight < 4"));
        Assert.Equal(["\"orders/3\""], await AskAsync("from Orders where counter('Likes') > 3 and Freight < 4"));
        Assert.Equal(["\"orders/3\""], await AskAsync("from Orders as o filter counter('likes') > 3 or o.Freight = null"));
        Assert.Equal([], await AskAsync("from Orders as o where counter(o, 'Likes') > 3 and count(o.Lines) = 1"));
        Assert.Equal([], await AskAsync("from Orders as o load o.None as n filter counter(n, 'Likes') > 3"));
    }

    /// <summary>What the message about functions of what the query finds advises.</summary>
    [Fact]
    public async Task A_declared_function_computes_of_loaded_documents()
    {
        List<string> names = await AskAsync("from Orders as o load o.Company as c select c.Name");
        string function = "declare function isLong(c) { return c?.Name?.length > 30; } ";
        Assert.Equal(
            names.Count(static name => name.Length > 32),
            (await AskAsync(function + "from Orders as o load o.Company as c filter isLong(c)")).Count);
    }

    [Fact]
    public async Task An_answer_of_a_script_is_not_that_of_another_time()
    {
        using QueryResults first = await QueryAsync("from Orders as o select { A: Math.random() }", default),
            second = await QueryAsync("from Orders as o select { A: Math.random() }", default);
        Assert.NotEqual(first.ResultEtag, second.ResultEtag);
    }

    [Fact]
    public async Task Timings_have_the_share_of_the_script()
    {
        using QueryResults results = await QueryAsync("from Orders as o select { A: 1 } include timings()", default);
        while (results.MoveNext())
        {
        }

        var json = new ArrayBufferWriter<byte>();
        results.WriteTimings(json);
        Assert.Contains("\"Script\"", Encoding.UTF8.GetString(json.WrittenSpan), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("from Orders as o select { A: 1 }", "script 10>10 (scan of documents 10>10)")]
    [InlineData(
        "declare function f(o) { return [{ A: 1 }, { A: 2 }]; } from Orders as o select f(o)",
        "script 10>20 (scan of documents 10>10)")]
    [InlineData(
        "declare function f(o) { return o.Freight > 6; } from Orders as o filter f(o) select { A: 1 }",
        "script 4>4 (filter 10>4 (scan of documents 10>10))")]
    public async Task Plans_have_the_script_above_what_it_reads(string query, string expected)
    {
        using QueryResults results = await QueryAsync(query + " include timings()", default);
        while (results.MoveNext())
        {
        }

        Assert.Equal(expected, Text(results.Plan!)); // as timings are asked for
        Assert.True(results.Plan!.Elapsed <= results.Duration);

        static string Text(PlanNode node) => $"{node.Operation} {node.RowsIn}>{node.RowsOut}"
            + (node.Children.Count == 0 ? "" : $" ({Text(node.Children[0])})");
    }

    [Fact]
    public async Task A_declared_time_series_is_selected_of_what_a_declared_function_lets_pass()
    {
        const string Declared =
            "declare timeseries s(x) { from x.Heart select count() } declare function f(o) { return o.Freight > 8; } ";
        await _database.WriteAsync(
            new WriteBatch().TimeSeries("orders/9", "Heart", [new Kinds.TimeSeriesPoint(DateTime.UnixEpoch, [60], null)]),
            Cancel);
        List<string> rows = await AskAsync(Declared + "from Orders as o filter f(o) select o.Freight as F, s(o) as S");
        Assert.Equal(2, rows.Count);
        Assert.Contains("\"Count\":1", Assert.Single(rows, static row => row.StartsWith("{\"F\":9.50", StringComparison.Ordinal)),
            StringComparison.Ordinal);
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => AskAsync($"{Declared}from Orders as o filter s(o) select o.Freight"));
        Assert.Contains("no condition", error.Message, StringComparison.Ordinal);
    }

    /// <summary>A series that a script calls comes to what it comes to as an item of the selection.</summary>
    [Theory]
    [InlineData("select { A: o.Freight, S: s(o) }", "select o.Freight as A, s(o) as S")]
    [InlineData("select { S: all() }", "select all() as S")]
    [InlineData("select f(o) as A, s(o) as S", "select o.Freight as A, s(o) as S")]
    [InlineData(
        "select f(o) as A, timeseries(from o.Heart where Tag = 'a') as S",
        "select o.Freight as A, timeseries(from o.Heart where Tag = 'a') as S")]
    [InlineData("load o.Company as c select { S: s(c) }", "load o.Company as c select s(c) as S")]
    [InlineData(
        "load o.Company as c select c.Name as N, s(c) as S", "load o.Company as c select { N: c == null ? null : c.Name, S: s(c) }")]
    [InlineData("select { S: g(o) }", "select s(o) as S")]
    [InlineData("filter busy(o) select { S: s(o) }", "where o.Freight in (1.5, 3.5) select s(o) as S")]
    public async Task A_declared_time_series_comes_to_the_same_in_a_script(string byScript, string byPath)
    {
        var batch = new WriteBatch();
        foreach (string id in (string[])["orders/1", "orders/3", "companies/1"])
            batch.TimeSeries(id, "Heart", [.. Enumerable.Range(0, id[^1] == '3' ? 5 : 3).Select(i => new Kinds.TimeSeriesPoint(
                DateTime.UnixEpoch.AddMinutes(i * 20), [60 + (i * 1.25)], i % 2 == 0 ? "a" : null))]);
        await _database.WriteAsync(batch, Cancel);
        const string Declared = """
            declare timeseries s(x) { from x.Heart between '1970-01-01' and $until group by '1 hour' select min(), avg(), count() }
            declare timeseries all() { from Heart }
            declare function f(o) { return o.Freight; }
            declare function g(o) { return s(id(o)); }
            declare function busy(o) { return s(o).Count > 0; }
            from Orders as o
            """;
        (List<string> wanted, IReadOnlyList<string> fields) = await AskSeriesAsync($"{Declared} {byPath}");
        Assert.Contains(wanted, static row => row.Contains("\"Count\":3", StringComparison.Ordinal));
        (List<string> rows, IReadOnlyList<string> named) = await AskSeriesAsync($"{Declared} {byScript}");
        Assert.Equal(["S"], fields);
        Assert.Equal(["S"], named);
        Assert.Equal(wanted.Count, rows.Count);
        foreach ((string one, string other) in wanted.OrderBy(IdOf).Zip(rows.OrderBy(IdOf)))
            Assert.True(
                JsonElement.DeepEquals(JsonDocument.Parse(one).RootElement, JsonDocument.Parse(other).RootElement),
                $"{one}\n{other}");

        static string IdOf(string row) => row[row.IndexOf("\"@id\"", StringComparison.Ordinal)..];
    }

    [Theory]
    [InlineData("select { S: s(1) }", "neither an id nor a document")]
    [InlineData("select { S: s() }", "neither an id nor a document")]
    [InlineData("select { S: $$series(7) }", "declares no such time series")]
    [InlineData("select { S: $$series('x', o) }", "declares no such time series")]
    public async Task A_declared_time_series_wants_a_document(string select, string words)
    {
        ScriptException error = await Assert.ThrowsAsync<ScriptException>(
            () => AskAsync("declare timeseries s(x) { from x.Heart } from Orders as o " + select));
        Assert.Contains(words, error.Message, StringComparison.Ordinal);
    }

    private async Task<(List<string> Rows, IReadOnlyList<string> Fields)> AskSeriesAsync(string text)
    {
        using var parameters = JsonDocument.Parse("""{"until":"1970-01-01T01:00:00Z"}""");
        using QueryResults results = await QueryAsync(text, parameters.RootElement);
        var rows = new List<string>();
        while (results.MoveNext())
        {
            var json = new ArrayBufferWriter<byte>();
            results.WriteCurrent(json);
            rows.Add(Encoding.UTF8.GetString(json.WrittenSpan));
        }

        return (rows, results.TimeSeriesFields);
    }

    /// <summary>What a script includes is brought along once, and what does not exist is not.</summary>
    [Theory]
    [InlineData("select { F: (include(o.Company), o.Freight) }")]
    [InlineData("select { F: (includes.document([o.Company, 'none', null]), include(o.Company), o.Freight) }")]
    [InlineData("filter f(o) select o.Freight as F")]
    public async Task A_script_adds_documents_to_the_answer(string select)
    {
        using QueryResults results = await QueryAsync(
            "declare function f(o) { include(o.Company); return true; } from Orders as o where o.Freight < 4 " + select, default);
        int rows = 0;
        while (results.MoveNext())
            rows++;
        var json = new ArrayBufferWriter<byte>();
        results.WriteIncludes(json);
        using JsonDocument includes = JsonDocument.Parse(json.WrittenMemory);
        Assert.Equal(4, rows);
        Assert.Equal(["companies/1"], includes.RootElement.EnumerateObject().Select(static one => one.Name));
        Assert.Equal("Alfreds", includes.RootElement.GetProperty("companies/1").GetProperty("Name").GetString());
    }

    /// <summary>Documents that are skipped, counted or equal to others bring nothing along.</summary>
    [Theory]
    [InlineData("from Orders as o order by o.Freight as double filter f(o) select o.Freight limit 1", "a/0")]
    [InlineData("from Orders as o order by o.Freight as double filter f(o) select o.Freight limit 2, 2", "a/2 a/3")]
    [InlineData("from Orders as o order by o.Freight as double filter f(o) and o.Freight > 1 select o.Freight limit 1", "a/1")]
    [InlineData("from Orders as o order by o.Freight as double filter f(o) limit 2 filter_limit 1", "a/0")]
    [InlineData("from Orders as o order by o.Freight as double filter f(o) select distinct o.Company limit 3", "a/0 a/1")]
    [InlineData("from Orders as o order by o.Freight as double filter f(o) select { C: o.Company } limit 1", "a/0")]
    [InlineData("from Orders as o order by o.Freight as double select distinct { C: (f(o), o.Company) }", "a/0 a/1")]
    [InlineData("from Orders as o order by o.Freight as double select { F: f(o) } limit 1, 2", "a/1 a/2")]
    public async Task A_script_adds_to_the_answer_for_given_rows_alone(string query, string expected)
    {
        var batch = new WriteBatch();
        for (int i = 0; i < 10; i++)
            batch.Put($"a/{i}", """{"A":1}"""u8.ToArray());
        await _database.WriteAsync(batch, Cancel);
        using QueryResults results = await QueryAsync(
            "declare function f(o) { include('a/' + Math.floor(o.Freight)); includes.cmpxchg('k' + Math.floor(o.Freight)); return true; } "
                + query,
            default);
        while (results.MoveNext())
        {
        }

        var json = new ArrayBufferWriter<byte>();
        results.WriteIncludes(json);
        using JsonDocument includes = JsonDocument.Parse(json.WrittenMemory);
        Assert.Equal(expected, string.Join(' ', includes.RootElement.EnumerateObject().Select(static one => one.Name)));
        Assert.Equal(
            expected.Replace("a/", "k", StringComparison.Ordinal), string.Join(' ', results.IncludedBeside!.CompareExchangeKeys));
    }

    [Fact]
    public async Task A_script_adds_values_and_revisions_to_the_answer()
    {
        using QueryResults results = await QueryAsync(
            "from Orders as o where id() = 'orders/1' select { F: (includes.cmpxchg('a'), includes.revisions('A:1-x'), 1) }",
            default);
        while (results.MoveNext())
        {
        }

        BesideIncluded included = Assert.IsType<BesideIncluded>(results.IncludedBeside);
        Assert.Equal(
            (true, "a", true, "A:1-x", false),
            (included.HasCompareExchange, Assert.Single(included.CompareExchangeKeys), included.HasRevisions,
                Assert.Single(included.Revisions), included.HasCounters));
        using QueryResults none = await QueryAsync("from Orders as o where id() = 'orders/1' select { F: 1 }", default);
        while (none.MoveNext())
        {
        }

        Assert.False(none.IncludedBeside is { HasCompareExchange: true } or { HasRevisions: true });
    }

    private Task<IReadOnlyList<WriteResult>> FillMoreAsync() =>
        _database.WriteAsync(
            new WriteBatch().Put(
                "orders/x",
                """
                {"Company":"companies/1","Freight":5,"Tags":["x","T7","t3"],"Open":true,"At":"2024-01-01T00:00:00.0000000Z",
                 "Zip":"5","Big":9007199254740993,"Lines":[],"@metadata":{"@collection":"Orders"} }
                """u8.ToArray())
                .Put("orders/y", """{"Big":9007199254740992,"Zip":7,"@metadata":{"@collection":"Orders"}}"""u8.ToArray()),
            Cancel);

    private Task<QueryResults> QueryAsync(string text, JsonElement parameters) =>
        _database.QueryAsync(
            new QueryRequest
            {
                Text = text,
                Parameters = parameters,
                WaitForNonStaleResults = true,
                WaitTimeout = Eventually.Patience
            },
            Cancel);

    private async Task<List<string>> AskAsync(string text)
    {
        using var parameters = JsonDocument.Parse("""{"by":10,"list":["x","T7"],"numbers":[5,7.5]}""");
        using QueryResults results = await QueryAsync(text, parameters.RootElement);
        var rows = new List<string>();
        while (results.MoveNext())
        {
            var json = new ArrayBufferWriter<byte>();
            results.WriteCurrent(json);
            string row = Encoding.UTF8.GetString(json.WrittenSpan);
            rows.Add(
                results.IsProjection
                    ? row[..row.IndexOf(",\"@metadata\"", StringComparison.Ordinal)] + "}"
                    : $"\"{results.Current.IdText()}\"");
        }

        return rows;
    }
}
