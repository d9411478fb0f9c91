using System.Text;
using System.Text.Json;
using Treepie.Kinds;
using Treepie.Queries;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary><c>timeseries()</c> in queries, compared with what plain lists of entries come to.</summary>
public sealed class TimeSeriesQueryTests : IDisposable
{
    private static readonly DateTime _start = new(2024, 1, 31, 22, 0, 0, DateTimeKind.Utc);

    private readonly Database _database = Database.OpenInMemory();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _database.Dispose();

    [Fact]
    public async Task Groups_are_what_their_entries_come_to()
    {
        TimeSeriesPoint[] points = await SeedAsync(20_000, 97);
        foreach ((string period, Func<DateTime, DateTime> floor, Func<DateTime, DateTime> next) in Periods())
        {
            JsonElement[] groups = await GroupsAsync(
                $"from People select timeseries(from Heartrate group by {period} select min(), max(), avg(), sum(), count(), "
                    + $"first(), last(), percentile(90), slope(), stddev()) as S");
            IGrouping<DateTime, TimeSeriesPoint>[] expected = [.. points.GroupBy(point => floor(point.Timestamp))];
            Assert.Equal(expected.Length, groups.Length);
            foreach ((JsonElement group, IGrouping<DateTime, TimeSeriesPoint> entries) in groups.Zip(expected))
            {
                Assert.Equal((entries.Key, next(entries.Key)), (Time(group, "From"), Time(group, "To")));
                AssertGroup(group, [.. entries]);
            }
        }
    }

    [Fact]
    public async Task Heads_of_segments_give_what_their_entries_give()
    {
        TimeSeriesPoint[] points = await SeedAsync(20_000, 97);
        const string Items = "select min(), max(), avg(), sum(), count(), first(), last()";
        foreach (string clause in (string[])
        [
            "", "group by 1 month", "group by '7 days'", "between '2024-02-03T01:02:03Z' and '2024-02-17'"
        ])
        {
            JsonElement[] fromHeads = await GroupsAsync($"from People select timeseries(from Heartrate {clause} {Items}) as S");
            string where = clause.StartsWith("group", StringComparison.Ordinal) ? $"where true {clause}" : $"{clause} where true";
            JsonElement[] fromEntries = await GroupsAsync($"from People select timeseries(from Heartrate {where} {Items}) as S");
            Assert.Equal(fromEntries.Length, fromHeads.Length);
            foreach ((JsonElement a, JsonElement b) in fromHeads.Zip(fromEntries))
                foreach (JsonProperty member in a.EnumerateObject())
                    if (member.Value.ValueKind == JsonValueKind.Array)
                        Assert.Equal(
                            Numbers(b, member.Name), Numbers(a, member.Name), (x, y) => Math.Abs(x - y) <= 1e-9 * Math.Abs(x));
                    else
                        Assert.Equal(b.GetProperty(member.Name).GetString(), member.Value.GetString());
        }

        Assert.Equal(20_000, points.Length);
    }

    [Theory]
    [InlineData("where Value > 70", 70.5, null, true)]
    [InlineData("where Value > 70 and Tag = 'WATCHES/1'", 70.5, "watches/1", true)]
    [InlineData("where Values[1] between 1 and 3 or Tag in ('watches/2')", 9, "watches/2", true)]
    [InlineData("where Tag = null", 1, null, true)]
    [InlineData("where Tag != null", 1, null, false)]
    [InlineData("where Values[7] = 1", 1, null, false)]
    [InlineData("where Timestamp >= '2024-01-31T22:00:00Z'", 1, null, true)]
    [InlineData("where Timestamp > '2024-01-31T22:00:00Z'", 1, null, false)]
    [InlineData("load Tag as watch where watch.Accuracy >= 2.5", 1, "watches/1", true)]
    [InlineData("load Tag as watch where watch.Accuracy >= 2.5", 1, "watches/2", false)]
    [InlineData("load Tag as watch where watch.Accuracy >= 2.5", 1, null, false)]
    public async Task Conditions_look_at_values_tags_times_and_documents(string clause, double value, string? tag, bool isWanted)
    {
        await WriteAsync(batch => batch
            .Put("watches/1", """{"Accuracy":2.5}"""u8)
            .Put("watches/2", """{"Accuracy":2}"""u8)
            .Put("people/1", """{"@metadata":{"@collection":"People"}}"""u8)
            .TimeSeries("people/1", "Heartrate", [new TimeSeriesPoint(_start, [value, 9], tag)]));
        JsonElement answer = await SingleAsync($"from People as p select timeseries(from p.Heartrate {clause}) as S");
        Assert.Equal(isWanted ? 1 : 0, answer.GetProperty("Count").GetInt64());
        if (!isWanted)
            return;
        JsonElement entry = answer.GetProperty("Results").EnumerateArray().Single();
        Assert.Equal((_start, tag), (Time(entry, "Timestamp"), entry.GetProperty("Tag").GetString()));
        Assert.Equal([value, 9], Numbers(entry, "Values"));
    }

    [Fact]
    public async Task Ranges_are_of_a_time_and_of_the_first_and_last_stretch()
    {
        TimeSeriesPoint[] points = await SeedAsync(5_000, 97);
        TimeSpan day = TimeSpan.FromDays(1);
        async Task Check(string clause, Func<TimeSeriesPoint, bool> isWanted, string? parameters = null) => Assert.Equal(
            points.Where(isWanted).Select(static point => point.Timestamp),
            (await GroupsAsync($"from People select timeseries(from Heartrate {clause}) as S", parameters))
                .Select(static entry => Time(entry, "Timestamp")));
        await Check("first 1d", point => point.Timestamp <= points[0].Timestamp + day);
        await Check("last '1 day'", point => point.Timestamp >= points[^1].Timestamp - day);
        await Check("last $p", point => point.Timestamp >= points[^1].Timestamp - day, """{"p":"24 hours"}""");
        await Check(
            "between $a and $b", point => point.Timestamp >= _start.AddHours(3) && point.Timestamp <= _start.AddHours(5),
            $$"""{"a":"{{_start.AddHours(3):O}}","b":"{{_start.AddHours(5):O}}"}""");
        await Check("between null and null", static _ => true);
    }

    [Fact]
    public async Task Tags_make_groups_offsets_shift_and_scales_multiply()
    {
        TimeSeriesPoint[] points = await SeedAsync(3_000, 97);
        JsonElement[] byTag = await GroupsAsync(
            "from People select timeseries(from Heartrate group by 1 day, tag select max() as Top scale 10 offset '02:00') as S");
        var expected = points.GroupBy(static point => (point.Timestamp.AddHours(2).Date, point.Tag))
            .OrderBy(static group => group.Key.Date).ThenBy(static group => group.Key.Tag, StringComparer.Ordinal)
            .Select(static group => (group.Key.Date, group.Key.Tag, Top: group.Max(static point => point.Values[0]) * 10));
        Assert.Equal(
            expected, byTag.Select(static group => (
                Time(group, "From"), group.TryGetProperty("Key", out JsonElement key) ? key.GetString() : null,
                Numbers(group, "Top")[0])));
    }

    [Theory]
    [InlineData("1 month", "02:00")]
    [InlineData("1 month", "-05:30")]
    [InlineData("1 year", "00:00:01")]
    [InlineData("9998 years", "-00:00:01")]
    [InlineData("1 hour", "02:00")]
    public async Task Offsets_beyond_the_ends_of_time_stop_there(string period, string offset)
    {
        await WriteAsync(batch => batch.Put("people/1", """{"@metadata":{"@collection":"People"}}"""u8).TimeSeries(
            "people/1", "Heartrate",
            [
                new TimeSeriesPoint(new DateTime(1, 1, 1, 0, 30, 0, DateTimeKind.Utc), [1]),
                new TimeSeriesPoint(new DateTime(9999, 12, 31, 23, 59, 59, DateTimeKind.Utc), [2]),
            ]));
        JsonElement[] groups = await GroupsAsync(
            $"from People select timeseries(from Heartrate group by '{period}' select sum() offset '{offset}') as S");
        Assert.Equal(3, groups.Sum(static group => Numbers(group, "Sum")[0]));
    }

    [Fact]
    public async Task Gaps_are_filled_as_asked()
    {
        await WriteAsync(batch => batch.Put("people/1", """{"@metadata":{"@collection":"People"}}"""u8).TimeSeries(
            "people/1", "Heartrate",
            [new TimeSeriesPoint(_start, [10]), new TimeSeriesPoint(_start.AddHours(4), [50])]));
        async Task<double[]> Filled(string fill) =>
        [
            .. (await GroupsAsync($"from People select timeseries(from Heartrate group by 1h {fill} select max()) as S"))
                .Select(static group => Numbers(group, "Max")[0])
        ];
        Assert.Equal((double[])[10, 50], await Filled(""));
        Assert.Equal((double[])[10, 20, 30, 40, 50], await Filled("with interpolation(linear)"));
        Assert.Equal((double[])[10, 10, 50, 50, 50], await Filled("with interpolation(nearest)"));
    }

    [Fact]
    public async Task A_series_is_declared_and_that_of_a_loaded_document_selected()
    {
        await SeedAsync(10, 97);
        await WriteAsync(static batch => batch.Put("orders/1", """{"Who":"people/1","@metadata":{"@collection":"Orders"}}"""u8));
        JsonElement declared = await SingleAsync(
            "declare timeseries heart(x) { from x.Heartrate group by '1 year' select count() } from People as p select p.Name, "
                + "heart(p) as S");
        Assert.Equal(10, declared.GetProperty("Count").GetInt64());
        JsonElement loaded = await SingleAsync(
            "from Orders as o load o.Who as who select timeseries(from who.Heartrate) as S");
        Assert.Equal(10, loaded.GetProperty("Count").GetInt64());
        JsonElement none = await SingleAsync("from People select timeseries(from None) as S");
        Assert.Equal(0, none.GetProperty("Count").GetInt64());
    }

    [Theory]
    [InlineData("timeseries(from H group by 'long')", "length of time")]
    [InlineData("timeseries(from H group by 0 hours)", "length of time")]
    [InlineData("timeseries(from H first 1d last 1d)", "Only one of")]
    [InlineData("timeseries(from H between '2024-02-01' and '2024-01-01')", "ends before it begins")]
    [InlineData("timeseries(from H between 'then' and 'now')", "is a time")]
    [InlineData("timeseries(from H select median())", "can be selected")]
    [InlineData("timeseries(from H select percentile(101))", "0 to 100")]
    [InlineData("timeseries(from H where Name = 'x')", "Timestamp")]
    [InlineData("timeseries(from H offset 'x')", "time span")]
    [InlineData("timeseries(from H group by 1h with interpolation(best))", "'linear' or 'nearest'")]
    [InlineData("timeseries(from H", "')'")]
    [InlineData("counter()", "takes a document and a name")]
    public async Task What_cannot_be_is_refused_at_its_place(string item, string expected)
    {
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => GroupsAsync($"from People select {item} as S"));
        Assert.Contains(expected, error.Message, StringComparison.Ordinal);
        Assert.Contains("line 1", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Counters_and_compare_exchange_values_are_selected_compared_with_and_never_stale()
    {
        await WriteAsync(static batch => batch
            .Put("people/1", """{"Name":"Ada","Boss":"people/2","@metadata":{"@collection":"People"}}"""u8)
            .Put("people/2", """{"Name":"Bob","@metadata":{"@collection":"People"}}"""u8)
            .IncrementCounter("people/1", "Likes", 3).IncrementCounter("people/2", "Likes", 7)
            .PutCompareExchange("best", """{"Object":"Bob"}"""u8, 0));
        const string Query =
            "from People as p select id() as Id, counter(p, 'Likes') as L, counter('Hates') as H, counter(p.Boss, 'likes') as B, "
                + "cmpxchg('best') as C";
        Assert.Equal(
            ["people/1 3 null 7 \"Bob\"", "people/2 7 null null \"Bob\""],
            (await RowsAsync(Query)).Order(StringComparer.Ordinal));
        await WriteAsync(static batch => batch.IncrementCounter("people/2", "Likes"));
        Assert.Contains("people/1 3 null 8 \"Bob\"", await RowsAsync(Query));
        const string Best = "from People where Name = cmpxchg('best') select id() as Id";
        Assert.Equal(["people/2"], await RowsAsync(Best));
        await WriteAsync(batch => batch.PutCompareExchange("best", """{"Object":"Ada"}"""u8, Index("best")));
        Assert.Equal(["people/1"], await RowsAsync(Best));
    }

    [Theory]
    [InlineData("from People include counters()", "people/1:*|people/2:*", "")]
    [InlineData("from People include counters('Likes', 'Hates')", "people/1:Hates,Likes|people/2:Hates,Likes", "")]
    [InlineData("from People include counters(Boss)", "people/2:*", "")]
    [InlineData("from People as p include counters(p.Boss)", "people/2:*", "")]
    [InlineData("from People as p include counters(Boss)", "people/2:*", "")]
    [InlineData("from People include counters(Boss, 'Likes')", "people/2:Likes", "")]
    [InlineData("from People include timeseries('2024-01-01', '2024-02-01')", "", "@all 0101-0201")]
    [InlineData("from People as p include timeseries(p, '2024-01-01', '2024-02-01')", "", "@all 0101-0201")]
    [InlineData("from People as p include timeseries(p.Boss, '2024-01-01', null)", "", "@all 0101-")]
    [InlineData("from People include timeseries(null, null)", "", "@all -")]
    [InlineData("from People include timeseries($a, $b)", "", "@all 0101-0301")]
    [InlineData("from People include timeseries('Heartrate', '2024-01-01', '2024-02-01')", "", "Heartrate 0101-0201")]
    [InlineData("from People include timeseries('Heartrate')", "", "Heartrate -")]
    public async Task What_is_included_may_leave_out_the_document_and_the_name(string text, string counters, string series)
    {
        await WriteAsync(static batch => batch
            .Put("people/1", """{"Name":"Ada","Boss":"people/2","@metadata":{"@collection":"People"}}"""u8)
            .Put("people/2", """{"Name":"Bob","@metadata":{"@collection":"People"}}"""u8));
        using var parameters = JsonDocument.Parse("""{"a":"2024-01-01","b":"2024-03-01"}""");
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = text, Parameters = parameters.RootElement }, Cancel);
        while (results.MoveNext())
            results.WriteCurrent(new System.Buffers.ArrayBufferWriter<byte>());
        BesideIncluded beside = results.IncludedBeside!; // the queries include something
        Assert.Equal(
            counters,
            string.Join(
                '|', beside.Counters.OrderBy(static one => one.DocumentId, StringComparer.Ordinal).Select(
                    static one => $"{one.DocumentId}:{(one.Names.Count == 0 ? "*" : string.Join(',', one.Names.Order()))}")));
        Assert.Equal(
            series,
            string.Join(
                '|', beside.TimeSeries.Select(
                    static one => $"{one.Name.Replace("_timeseries", "", StringComparison.Ordinal)} {one.From:MMdd}-{one.To:MMdd}")
                    .Distinct()));
    }

    [Theory]
    [InlineData("from People as p load p.Boss as b include counters(Boss)", "in quotes")]
    [InlineData("from People include timeseries(Heartrate)", "in quotes")]
    [InlineData("from People include timeseries('Heartrate', '2024-01-01')", "is a time")]
    [InlineData("from People include timeseries('Heartrate', 1, 2, 3)", "may be left out")]
    [InlineData("from People select counter(Likes)", "in quotes")]
    public async Task What_cannot_be_included_is_refused_at_its_place(string text, string expected)
    {
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.QueryAsync(new QueryRequest { Text = text }, Cancel));
        Assert.Contains(expected, error.Message, StringComparison.Ordinal);
        Assert.Contains("line 1", error.Message, StringComparison.Ordinal);
    }

    private long Index(string key)
    {
        using Treepie.Store.DatabaseSnapshot snapshot = _database.BeginRead();
        return snapshot.CompareExchange(key)!.Index; // it was put
    }

    private static IEnumerable<(string, Func<DateTime, DateTime>, Func<DateTime, DateTime>)> Periods() =>
    [
        ("'1 hour'", static time => time.Date.AddHours(time.Hour), static time => time.AddHours(1)),
        ("6h", static time => time.Date.AddHours(time.Hour / 6 * 6), static time => time.AddHours(6)),
        ("1 month", static time => new DateTime(time.Year, time.Month, 1), static time => time.AddMonths(1)),
        ("'1 quarter'", static time => new DateTime(time.Year, (time.Month - 1) / 3 * 3 + 1, 1), static time => time.AddMonths(
            3)),
        ("2y", static time => new DateTime((time.Year - 1) / 2 * 2 + 1, 1, 1), static time => time.AddYears(2)),
    ];

    private static void AssertGroup(JsonElement group, TimeSeriesPoint[] entries)
    {
        double[] values = [.. entries.Select(static point => point.Values[0])], sorted = [.. values.Order()];
        double average = values.Average();
        double at = 0.9 * (sorted.Length - 1);
        int below = (int)at;
        double percentile = below + 1 < sorted.Length
            ? sorted[below] + ((sorted[below + 1] - sorted[below]) * (at - below))
            : sorted[^1];
        double milliseconds = (entries[^1].Timestamp - entries[0].Timestamp).TotalMilliseconds;
        (string, double)[] expected =
        [
            ("Min", sorted[0]), ("Max", sorted[^1]), ("Average", average), ("Sum", values.Sum()), ("Count", values.Length),
            ("First", values[0]), ("Last", values[^1]), ("Percentile", percentile),
            ("Slope", milliseconds == 0 ? 0 : (values[^1] - values[0]) / milliseconds),
            ("StandardDeviation", Math.Sqrt(values.Sum(value => (value - average) * (value - average)) / values.Length)),
        ];
        foreach ((string name, double value) in expected)
            Assert.Equal(value, Numbers(group, name)[0], Math.Abs(value) * 1e-9 + 1e-12);
    }

    private async Task<TimeSeriesPoint[]> SeedAsync(int count, int stepSeconds)
    {
        var random = new Random(count);
        TimeSeriesPoint[] points = [
            .. Enumerable.Range(0, count).Select(
                i => new TimeSeriesPoint(
                    _start.AddSeconds((long)i * stepSeconds), [60 + random.NextDouble(), i % 7],
                    i % 3 == 0 ? null : $"watches/{i % 3}"))];
        await WriteAsync(batch => batch.Put("people/1", """{"Name":"Ada","@metadata":{"@collection":"People"}}"""u8)
            .TimeSeries("people/1", "Heartrate", points));
        return points;
    }

    private async Task WriteAsync(Func<WriteBatch, WriteBatch> fill) =>
        await _database.WriteAsync(fill(new WriteBatch()), Cancel);

    private async Task<List<string>> RowsAsync(string text)
    {
        var rows = new List<string>();
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = text, WaitForNonStaleResults = true }, Cancel);
        while (results.MoveNext())
        {
            var output = new System.Buffers.ArrayBufferWriter<byte>();
            results.WriteCurrent(output);
            using var json = JsonDocument.Parse(output.WrittenMemory);
            rows.Add(
                string.Join(
                    ' ', json.RootElement.EnumerateObject()
                        .Where(static member => member.Name != "@metadata")
                        .Select(static member => member.Name == "Id" ? member.Value.GetString() : member.Value.GetRawText())));
        }

        return rows;
    }

    private async Task<JsonElement[]> GroupsAsync(string text, string? parameters = null) =>
        [.. (await SingleAsync(text, parameters)).GetProperty("Results").EnumerateArray()];

    private async Task<JsonElement> SingleAsync(string text, string? parameters = null)
    {
        var request = new QueryRequest { Text = text };
        if (parameters is not null)
            request = request with { Parameters = JsonDocument.Parse(parameters).RootElement };
        using QueryResults results = await _database.QueryAsync(request, Cancel);
        Assert.True(results.MoveNext());
        Assert.Equal(["S"], results.TimeSeriesFields);
        var output = new System.Buffers.ArrayBufferWriter<byte>();
        results.WriteCurrent(output);
        return JsonDocument.Parse(Encoding.UTF8.GetString(output.WrittenSpan)).RootElement.GetProperty("S");
    }

    private static DateTime Time(JsonElement json, string name) => json.GetProperty(name).GetDateTime().ToUniversalTime();

    private static double[] Numbers(JsonElement json, string name) =>
        [.. json.GetProperty(name).EnumerateArray().Select(static number => number.GetDouble())];
}
