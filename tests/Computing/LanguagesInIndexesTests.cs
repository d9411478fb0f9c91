using System.Text;
using System.Text.Json;
using Treepie.Kinds;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>
/// The same map in C# and in JavaScript, as indexes of one database: over what lies beside documents, what they load and what
/// their metadata says, both have the same entries, whatever changes.
/// </summary>
public sealed class LanguagesInIndexesTests : IDisposable
{
    private readonly IndexRunner _run = new();

    public void Dispose() => _run.Dispose();

    [Fact]
    public async Task Recurse_takes_little_memory_for_deep_and_large_documents()
    {
        const int Levels = 25;
        string words = new('w', 60_000), comment = """{"N":0,"Replies":[]}""";
        for (int level = 1; level <= Levels; level++)
            comment = $$"""{"N":{{level}},"Text":"{{words}}","Replies":[{{comment}},{"N":0, "Replies":[]},{"Replies":[],"N":-0.0}]}""";
        await _run.PutAsync("threads/1", comment, "Threads");
        _run.Define("Threads", "map('Threads', t => ({ N: recurse(t, x => x.Replies).map(x => x.N) }))", """{"N":{"Storage":"Yes"}}""");
        string row = Assert.Single(await _run.AskAsync("from index Threads select N"));
        Assert.Empty(_run.Database.Indexes.Errors("Threads"));
        using JsonDocument json = JsonDocument.Parse(row);
        // Of equal replies the first is taken; another order of members makes another reply.
        Assert.Equal(Levels + 2, json.RootElement.GetProperty("N").GetArrayLength());
    }

    [Theory]
    [InlineData(
        "A, B, C, D",
        "from o in docs.Orders let m = MetadataFor(o) select new { A = m[\"@id\"], B = m[\"@collection\"], C = m[\"Own\"], D = "
            + "m.Value<string>(\"None\") }",
        "map('Orders', o => { const m = getMetadata(o); return { A: m['@id'], B: m['@collection'], C: m.Own, D: m.None }; })")]
    [InlineData(
        "A, B",
        "from o in docs.Orders let m = MetadataFor(o) select new { A = m[\"@change-vector\"], B = m[\"@flags\"] }",
        "map('Orders', o => ({ A: getMetadata(o)['@change-vector'], B: getMetadata(o)['@flags'] }))")]
    [InlineData(
        "A, B, C",
        "from o in docs.Orders select new { A = AttachmentsFor(o).Select(a => a.Name), B = AttachmentsFor(o).Sum(a => a.Size), C = "
            + "AttachmentsFor(o).Select(a => a.ContentType) }",
        "map('Orders', o => ({ A: attachmentsFor(o).map(a => a.Name), B: attachmentsFor(o).reduce((s, a) => s + a.Size, 0), C: "
            + "attachmentsFor(o).map(a => a.ContentType) }))")]
    [InlineData(
        "A, B",
        "from o in docs.Orders select new { A = CounterNamesFor(o), B = CounterNamesFor(o).Count() }",
        "map('Orders', o => ({ A: counterNamesFor(o), B: counterNamesFor(o).length }))")]
    [InlineData(
        "A, B",
        "from o in docs.Orders select new { A = TimeSeriesNamesFor(o), B = TimeSeriesNamesFor(o).Any() }",
        "map('Orders', o => ({ A: timeSeriesNamesFor(o), B: timeSeriesNamesFor(o).length > 0 }))")]
    [InlineData(
        "A, B, C",
        "from o in docs.Orders let c = LoadCompareExchangeValue(o.Rate) select new { A = c.F, B = c == null, C = "
            + "LoadCompareExchangeValue(new[] { \"r1\", \"r2\" }).Select(x => x == null ? -1 : x.F) }",
        "map('Orders', o => { const c = cmpxchg(o.Rate); return { A: c?.F, B: c == null, C: cmpxchg(['r1', 'r2']).map(x => x == "
            + "null ? -1 : x.F) }; })")]
    [InlineData(
        "A, B",
        "from o in docs.Orders select new { A = Recurse(o.Root, x => x.Children).Select(x => x.Name), B = Recurse(o.Root, x => "
            + "x.Children).Count() }",
        "map('Orders', o => { const all = recurse(o.Root, x => x.Children); return { A: all.map(x => x.Name), B: all.length }; })")]
    [InlineData(
        "A",
        "from o in docs.Orders select new { A = Recurse(LoadDocument(o.Company, \"Companies\"), c => LoadDocument(c.Boss, "
            + "\"Companies\")).Select(c => c.Name) }",
        "map('Orders', o => ({ A: recurse(load(o.Company, 'Companies'), c => load(c.Boss, 'Companies')).map(c => c.Name) }))")]
    [InlineData(
        "A, N0, N1",
        "from o in docs.Orders select new { A = o.N, _ = o.Tags.Select(t => CreateField(\"N\" + t, o.N, new CreateFieldOptions { "
            + "Storage = FieldStorage.Yes, Indexing = FieldIndexing.Exact })) }",
        "map('Orders', o => ({ A: o.N, _: o.Tags.map(t => createField('N' + t, o.N, { storage: 'Yes', indexing: 'Exact' })) }))")]
    [InlineData(
        "A, B",
        "from o in docs.Orders let c = LoadDocument(o.Companies, \"Companies\") select new { A = c.Where(x => x != null).Select(x "
            + "=> x.Name), B = c.Count() }",
        "map('Orders', o => { const c = load(o.Companies, 'Companies'); return { A: c.filter(x => x).map(x => x.Name), B: "
            + "c.length }; })")]
    public async Task Both_languages_have_the_same_entries(string fields, string csharp, string javaScript)
    {
        const string Stored = """{"__all_fields":{"Storage":"Yes"}}""";
        _run.Define("CSharp", csharp, Stored);
        _run.Define("JavaScript", javaScript, Stored);
        for (int round = 0; round < 3; round++)
        {
            await ChangeAsync(round);
            IReadOnlyList<string> expected = await RowsAsync("CSharp");
            Assert.Equal(5, expected.Count);
            Assert.Equal(expected, await RowsAsync("JavaScript"));
            Assert.Empty(_run.Database.Indexes.Errors("CSharp"));
            Assert.Empty(_run.Database.Indexes.Errors("JavaScript"));
        }

        async Task<IReadOnlyList<string>> RowsAsync(string index) =>
            await _run.AskAsync($"from index {index} order by id() select id(), {fields}");
    }

    private async Task ChangeAsync(int round)
    {
        var batch = new WriteBatch();
        for (int i = 0; i < 5; i++)
        {
            string boss = i == 4 ? "" : $"\"Boss\":\"companies/{(i + 1) % 3}\",";
            Put($"companies/{i}", $"{boss}\"Name\":\"c{i}\"", "Companies");
            Put(
                $"orders/{i}",
                $$"""
                "N":{{i}},"Rate":"r{{i % 3}}","Company":"companies/{{i}}","Companies":["companies/{{i}}","companies/9"],"Tags":[{{i % 2}}],
                "Root":{"Name":"a","Children":[{"Name":"b","Children":[{"Name":"d{{i}}"}]},{"Name":"c"},{"Name":"c"},null]}
                """,
                "Orders");
        }

        for (int i = 1; i < 3 + round; i++)
        {
            batch.IncrementCounter($"orders/{i}", $"Likes{round}", i);
            batch.TimeSeries($"orders/{i}", $"Heart{round}", [new TimeSeriesPoint(DateTime.UnixEpoch, [1], null)], []);
        }

        batch.PutCompareExchange($"r{round}", Encoding.UTF8.GetBytes($"{{\"Object\":{{\"F\":{round}}}}}"), 0);
        await using var upload = _run.Database.BeginUpload();
        await upload.WriteAsync(new byte[100 + round], TestContext.Current.CancellationToken);
        await upload.CompleteAsync(TestContext.Current.CancellationToken);
        batch.PutAttachment($"orders/{round}", $"{round}.txt", "text/plain", upload);
        await _run.Database.WriteAsync(batch, TestContext.Current.CancellationToken);

        void Put(string id, string members, string collection) => batch.Put(
            id, Encoding.UTF8.GetBytes($"{{{members},\"@metadata\":{{\"@collection\":\"{collection}\",\"Own\":{round}}}}}"));
    }
}
