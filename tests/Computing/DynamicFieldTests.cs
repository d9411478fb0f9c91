using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>Fields whose names only the documents say: <c>CreateField</c> and <c>createField</c>.</summary>
public sealed class DynamicFieldTests : IDisposable
{
    private const string Options = "{ Indexing = FieldIndexing.Search, Storage = FieldStorage.Yes }";

    private readonly IndexRunner _run = new();

    public void Dispose() => _run.Dispose();

    [Theory]
    [InlineData("from p in docs.Products select new { p.Kind, _ = p.Attributes.Select(a => CreateField(a.Name, a.Value)) }")]
    [InlineData(
        "map('Products', p => ({ Kind: p.Kind, _: (p.Attributes || []).map(a => createField(a.Name, a.Value)) }))")]
    public async Task Names_are_those_that_documents_say_and_change_with_them(string map)
    {
        _run.Define("Products", map);
        await PutAsync(1, "pot", ("Colour", "\"red\""), ("Litres", "2"));
        await PutAsync(2, "pot", ("Colour", "\"Blue\""), ("Litres", "10"));
        await PutAsync(3, "book", ("Pages", "300"), ("Ship To", "\"Bern\""), ("Tags", "[\"a\",\"b\"]"));
        Assert.Equal(["products/1"], await _run.IdsAsync("from index Products where Colour = 'RED'"));
        Assert.Equal(
            ["products/2", "products/1"],
            await _run.IdsAsync("from index Products where Litres > 1 order by Litres as long desc"));
        Assert.Equal(["products/3"], await _run.IdsAsync("from index Products where 'Ship To' = 'bern' and Tags = 'b'"));
        Assert.Equal(["products/3"], await _run.IdsAsync("from index Products where Kind = 'book' and exists(Pages)"));
        Assert.Empty(await _run.IdsAsync("from index Products where Weight = 3")); // no document has said it yet
        await PutAsync(4, "pot", ("Weight", "3"));
        Assert.Equal(["products/4"], await _run.IdsAsync("from index Products where Weight = 3"));
        await PutAsync(1, "pot", ("Weight", "3"));
        await _run.DeleteAsync("products/4");
        Assert.Equal(["products/1"], await _run.IdsAsync("from index Products where Weight = 3"));
        Assert.Empty(await _run.IdsAsync("from index Products where Colour = 'red'"));
        _run.Reopen();
        Assert.Equal(["products/1"], await _run.IdsAsync("from index Products where Weight = 3"));
        Assert.Equal(["products/3"], await _run.IdsAsync("from index Products where Pages between 200 and 400"));
        Assert.Equal(
            ["products/2", "products/1"],
            await _run.IdsAsync("from index Products where Kind = 'pot' order by Colour desc"));
    }

    [Theory]
    [InlineData(
        "from p in docs.Products select new { p.Kind, _ = p.Attributes.Select(a => CreateField(a.Name, a.Value, "
            + "new CreateFieldOptions " + Options + ")) }")]
    [InlineData(
        "map('Products', p => ({ Kind: p.Kind, _: (p.Attributes || []).map(a => createField(a.Name, a.Value, "
            + "{ indexing: 'Search', storage: true, termVector: null })) }))")]
    public async Task Options_say_whether_words_are_searched_and_values_kept(string map)
    {
        _run.Define("Products", map);
        await PutAsync(1, "pot", ("Text", "\"A red pot\""), ("Text", "\"of clay\""));
        await PutAsync(2, "pot", ("Text", "\"A blue one\""), ("Size", "1.5"));
        Assert.Equal(["products/1"], await _run.IdsAsync("from index Products where search(Text, 'clay')"));
        Assert.Equal(
            ["""{"Text":["A red pot","of clay"],"Size":null}""", """{"Text":"A blue one","Size":1.5}"""],
            await _run.AskAsync("from index Products where search(Text, 'pot blue') order by Kind select Text, Size"));
    }

    [Fact]
    public async Task Options_of_all_fields_count_where_a_document_says_none()
    {
        _run.Define(
            "Products", "from p in docs.Products select new { _ = p.Attributes.Select(a => CreateField(a.Name, a.Value)) }",
            """{"__all_fields":{"Indexing":"Exact","Storage":"Yes"},"Note":{"Indexing":"Search"}}""");
        await PutAsync(1, "pot", ("Code", "\"aB\""), ("Note", "\"some words\""));
        for (int i = 0; i < 2; i++)
        {
            Assert.Equal(["products/1"], await _run.IdsAsync("from index Products where exact(Code = 'aB')"));
            Assert.Empty(await _run.IdsAsync("from index Products where Code = 'ab'"));
            Assert.Equal(["products/1"], await _run.IdsAsync("from index Products where search(Note, 'words')"));
            Assert.Equal(["""{"Code":"aB","Note":"some words"}"""], await _run.AskAsync("from index Products select Code, Note"));
            _run.Reopen();
        }
    }

    [Fact]
    public async Task Words_of_all_fields_go_through_an_analyzer_from_parts()
    {
        _run.Database.Indexes.Analyzers.Put(new AnalyzerDefinition("Plain", """{"Filters":["LowerCase","Accents"]}"""));
        _run.Define(
            "Products", "from p in docs.Products select new { _ = p.Attributes.Select(a => CreateField(a.Name, a.Value)) }",
            """{"__all_fields":{"Indexing":"Search","Analyzer":"Plain"}}""");
        await PutAsync(1, "pot", ("Text", "\"Café Zürich\""));
        for (int i = 0; i < 2; i++)
        {
            Assert.Equal(["products/1"], await _run.IdsAsync("from index Products where search(Text, 'cafe zurich', and)"));
            _run.Reopen();
        }
    }

    [Fact]
    public async Task A_name_given_in_two_ways_has_both()
    {
        _run.Define(
            "Products",
            "from p in docs.Products select new { _ = p.Attributes.Select(a => CreateField(a.Name, a.Value, false, p.Kind == "
                + "\"words\")) }");
        await PutAsync(1, "words", ("N", "\"red pot\""));
        await PutAsync(2, "whole", ("N", "\"red pot\""));
        Assert.Equal(["products/1"], await _run.IdsAsync("from index Products where search(N, 'pot')"));
        Assert.Equal(["products/2"], await _run.IdsAsync("from index Products where exact(N = 'red pot')"));
        await _run.DeleteAsync("products/2");
        Assert.Empty(await _run.IdsAsync("from index Products where exact(N = 'red pot')"));
    }

    [Fact]
    public async Task A_query_that_is_never_stale_sees_fields_that_were_never_met()
    {
        _run.Define(
            "Products", "from p in docs.Products select new { _ = p.Attributes.Select(a => CreateField(a.Name, a.Value)) }");
        for (int i = 0; i < 40; i++)
        {
            await PutAsync(i, "pot", ($"F{i % 7}", i.ToString(CultureInfo.InvariantCulture)), ($"G{i}", "1"));
            Assert.Equal([$"products/{i}"], await _run.IdsAsync($"from index Products where G{i} = 1", neverStale: true));
            Assert.Equal([$"products/{i}"], await _run.IdsAsync($"from index Products where F{i % 7} = {i}", neverStale: true));
        }
    }

    [Fact]
    public async Task A_field_that_no_document_has_named_is_said_beside_the_answer()
    {
        _run.Define(
            "Products", "from p in docs.Products select new { _ = p.Attributes.Select(a => CreateField(a.Name, a.Value)) }");
        await PutAsync(1, "pot", ("Colour", "1"));
        await _run.WaitAsync();
        using QueryResults results = await _run.Database.QueryAsync(
            new QueryRequest { Text = "from index Products where Color = 1" }, TestContext.Current.CancellationToken);
        string warning = Assert.Single(results.Warnings);
        Assert.Contains("has named a field 'Color'", warning, StringComparison.Ordinal);
        Assert.Contains("'Colour'", warning, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_document_with_too_many_names_is_told_and_the_others_go_on()
    {
        _run.Define(
            "Products", "map('Products', p => ({ Kind: p.Kind, _: p.Names.map(n => createField(n, 1)) }))");
        string[] names = [.. Enumerable.Range(0, 10_000).Select(static i => "N" + i)];
        await _run.PutAsync("products/1", $"{{\"Kind\":\"many\",\"Names\":{JsonSerializer.Serialize(names)}}}", "Products");
        await _run.PutAsync("products/2", """{"Kind":"few","Names":["N5","Late"]}""", "Products");
        Assert.Equal(["products/1", "products/2"], await _run.IdsAsync("from index Products where N5 = 1"));
        Assert.Equal(["products/1"], await _run.IdsAsync("from index Products where Kind = 'many'"));
        IndexStatistics index = Assert.Single(_run.Database.Indexes.List());
        Assert.Equal(2, index.ErrorCount);
        Assert.Equal(IndexDefinition.MaxDynamicFields + 1, index.Fields.Count);
        Assert.Contains(
            _run.Database.Indexes.Errors("Products"),
            error => error.Message.Contains("1,024 fields", StringComparison.Ordinal));
        Assert.Empty(await _run.IdsAsync("from index Products where Late = 1"));
    }

    [Theory]
    [InlineData("@fields")]
    [InlineData("@metadata")]
    [InlineData("search(a)")]
    [InlineData("id()")]
    [InlineData("")]
    [InlineData(" ")]
    [InlineData("a\\nb")]
    public async Task A_name_that_cannot_be_one_is_an_error_of_its_document(string name)
    {
        _run.Define(
            "Products",
            "from p in docs.Products select new { p.Kind, _ = p.Attributes.Select(a => CreateField(a.Name, a.Value)) }");
        await PutAsync(1, "pot", (name, "1"), ("Good", "2"));
        Assert.Equal(["products/1"], await _run.IdsAsync("from index Products where Good = 2 and Kind = 'pot'"));
        Assert.Contains("name", Assert.Single(_run.Database.Indexes.Errors("Products")).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Options_that_do_not_exist_are_an_error_of_the_document()
    {
        _run.Define("Products", "map('Products', p => ({ _: createField('A', 1, { indexing: 'Sometimes' }) }))");
        await PutAsync(1, "pot");
        await _run.WaitAsync();
        Assert.Contains(
            "'Sometimes'", Assert.Single(_run.Database.Indexes.Errors("Products")).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_reduce_must_make_them_where_its_map_does()
    {
        using JsonDocument json = JsonDocument.Parse(
            """
            {"Name":"X","Maps":["from p in docs.Products select new { p.Kind, N = 1, _ = CreateField(p.Kind, 1) }"],
             "Reduce":"from r in results group r by r.Kind into g select new { Kind = g.Key, N = g.Sum(x => x.N) }"}
            """);
        InvalidIndexDefinitionException error = Assert.Throws<InvalidIndexDefinitionException>(
            () => _run.Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement)));
        Assert.Contains("CreateField in the reduce", error.Message, StringComparison.Ordinal);
    }

    public static TheoryData<string, string> Reduces => new()
    {
        {
            "from p in docs.Products from a in p.Attributes select new { p.Kind, Sums = new[] { new { a.Name, N = a.Value } }, "
                + "_ = (object)null }",
            "from r in results group r by r.Kind into g let sums = g.SelectMany(x => x.Sums).GroupBy(s => s.Name)"
                + ".Select(s => new { Name = s.Key, N = s.Sum(x => x.N) }).OrderBy(s => s.Name) "
                + "select new { Kind = g.Key, Sums = sums, _ = sums.Select(s => CreateField(s.Name, s.N)) }"
        },
        {
            "map('Products', p => (p.Attributes || []).map(a => ({ Kind: p.Kind, Sums: [{ Name: a.Name, N: a.Value }] })))",
            """
            groupBy(x => x.Kind).aggregate(g => {
                const sums = {};
                for (const x of g.values) for (const s of x.Sums) sums[s.Name] = (sums[s.Name] || 0) + s.N;
                const names = Object.keys(sums).sort();
                return { Kind: g.key, Sums: names.map(n => ({ Name: n, N: sums[n] })),
                         _: names.map(n => createField(n, sums[n], { storage: true })) };
            })
            """
        },
    };

    /// <summary>
    /// Documents come, change and go; groups are found by the sums that their documents name, also by queries that read changes
    /// which are not indexed yet, and after the database was opened again.
    /// </summary>
    [Theory]
    [MemberData(nameof(Reduces))]
    public async Task A_reduce_names_fields_of_its_groups(string map, string reduce)
    {
        var random = new Random(Seed.Next());
        DefineSums(map, reduce);
        var model = new Dictionary<int, (string Kind, (string Name, int Value)[] Attributes)>();
        for (int round = 0; round < 25; round++)
        {
            var batch = new WriteBatch();
            for (int i = random.Next(1, 12); i > 0; i--)
            {
                int product = random.Next(30);
                if (random.Next(5) == 0 && model.Remove(product))
                {
                    batch.Delete($"products/{product}");
                    continue;
                }

                (string Name, int Value)[] attributes =
                    [.. Enumerable.Range(0, random.Next(4)).Select(_ => ($"F{random.Next(3 + round)}", random.Next(1, 4)))];
                model[product] = ($"k{random.Next(4)}", attributes);
                batch.Put($"products/{product}", Body(model[product].Kind, [.. attributes.Select(Json)]));
            }

            await _run.Database.WriteAsync(batch, TestContext.Current.CancellationToken);
            if (random.Next(6) == 0)
                _run.Reopen();
            if (random.Next(3) == 0)
                await _run.WaitAsync();
            for (int i = 0; i < 4; i++)
            {
                string name = $"F{random.Next(3 + round)}";
                int least = random.Next(1, 6);
                IEnumerable<string> expected = model.Values
                    .SelectMany(static one => one.Attributes.Select(a => (one.Kind, a.Name, a.Value)))
                    .Where(one => one.Name == name)
                    .GroupBy(static one => one.Kind)
                    .Where(group => group.Sum(static one => one.Value) >= least)
                    .Select(static group => $$"""{"Kind":"{{group.Key}}"}""")
                    .Order(StringComparer.Ordinal);
                Assert.Equal(
                    expected,
                    await _run.AskAsync(
                        $"from index Sums where {name} >= {least} order by Kind select Kind", neverStale: random.Next(2) == 0));
            }
        }
    }

    [Fact]
    public async Task Stored_fields_of_groups_are_selected_and_output_documents_have_none_of_their_descriptions()
    {
        (string map, string reduce) = Reduces.Skip(1).Select(static row => row.Data).Single();
        DefineSums(map, reduce, outputTo: "Totals");
        await PutAsync(1, "pot", ("Colour", "2"), ("Litres", "3"));
        await PutAsync(2, "pot", ("Colour", "5"));
        Assert.Equal(
            ["""{"Colour":7,"Litres":3}"""], await _run.AskAsync("from index Sums where Colour = 7 select Colour, Litres"));
        await _run.WaitAsync();
        Assert.Equal(
            ["""{"Kind":"pot","Sums":[{"Name":"Colour","N":7},{"Name":"Litres","N":3}]}"""],
            await _run.AskAsync("from Totals select Kind, Sums"));
        Assert.Empty(await _run.IdsAsync("from Totals where exists('@fields')"));
    }

    /// <summary>Above 128 documents, the group is reduced from results of its parts, which are small.</summary>
    [Fact]
    public async Task Fields_of_a_part_of_a_group_do_not_pass_to_the_group_with_what_is_spread()
    {
        const int Count = 200;
        DefineSums(
            "map('Products', p => ({ Kind: p.Kind, N: 1, _: createField('One', 1) }))",
            """
            groupBy(x => x.Kind).aggregate(g => {
                const n = g.values.reduce((sum, x) => sum + x.N, 0), size = n < 130 ? 'Small' : 'Large';
                return { ...g.values[0], Kind: g.key, N: n, _: n < 130 || n === 200 ? createField(size, n) : null };
            })
            """);
        var batch = new WriteBatch();
        for (int i = 0; i < Count; i++)
            batch.Put($"products/{i}", Body("pot", []));
        batch.Put("products/pan", Body("pan", []));
        await _run.Database.WriteAsync(batch, TestContext.Current.CancellationToken);
        Assert.Equal(["""{"Kind":"pot"}"""], await _run.AskAsync("from index Sums where Large = 200 select Kind"));
        Assert.Equal(["""{"Kind":"pan"}"""], await _run.AskAsync("from index Sums where Small > 0 select Kind"));
        await _run.DeleteAsync("products/1");
        Assert.Equal(["""{"N":199}"""], await _run.AskAsync("from index Sums where Kind = 'pot' select N"));
        Assert.Empty(await _run.AskAsync("from index Sums where Large > 0"));
        Assert.Equal(["""{"Kind":"pan"}"""], await _run.AskAsync("from index Sums where Small > 0 select Kind"));
        Assert.Equal(IndexState.Normal, Assert.Single(_run.Database.Indexes.List()).State);
    }

    [Fact]
    public async Task What_lies_beside_documents_may_name_fields_too()
    {
        _run.Define(
            "Likes",
            "from c in counters.Products select new { c.Name, _ = CreateField(c.Name, c.Value, new CreateFieldOptions "
                + "{ Storage = FieldStorage.Yes }) }");
        await PutAsync(1, "pot");
        await _run.Database.WriteAsync(
            new WriteBatch().IncrementCounter("products/1", "likes", 7).IncrementCounter("products/1", "views", 9),
            TestContext.Current.CancellationToken);
        Assert.Equal(["""{"Name":"likes"}"""], await _run.AskAsync("from index Likes where likes = 7 select Name"));
        Assert.Equal(["""{"views":9}"""], await _run.AskAsync("from index Likes where views > 8 select views"));
        Assert.Equal(["""{"Name":"views","views":9}"""], await _run.AskAsync("from index Likes where views > 8"));
    }

    /// <summary>
    /// The names are durable before entries have values under them. A process that ends between the two leaves an index with names
    /// that nothing has, which goes on; one whose names were lost is built again.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Names_and_entries_may_part_at_a_crash(bool namesWereFirst)
    {
        _run.Define(
            "Products", "from p in docs.Products select new { _ = p.Attributes.Select(a => CreateField(a.Name, a.Value)) }");
        await PutAsync(1, "pot", ("Colour", "1"), ("Size", "2"));
        await _run.WaitAsync();
        _run.Database.Dispose();
        string file = Assert.Single(Directory.GetFiles(_run.Folder, "definition.json", SearchOption.AllDirectories));
        JsonNode definition = JsonNode.Parse(await File.ReadAllTextAsync(file, TestContext.Current.CancellationToken))!;
        JsonArray fields = definition["DynamicFields"]!.AsArray();
        if (namesWereFirst)
            fields.Add(new JsonObject { ["Name"] = "Later", ["Use"] = "Value" });
        else
            fields.RemoveAt(1);
        await File.WriteAllTextAsync(file, definition.ToJsonString(), TestContext.Current.CancellationToken);
        _run.Reopen();
        Assert.Equal(["products/1"], await _run.IdsAsync("from index Products where Colour = 1 and Size = 2"));
        Assert.Empty(await _run.IdsAsync("from index Products where Later = 3"));
        await PutAsync(2, "pot", ("Later", "3"), ("Size", "2"));
        Assert.Equal(["products/2"], await _run.IdsAsync("from index Products where Later = 3"));
        Assert.Equal(2, (await _run.IdsAsync("from index Products where Size = 2")).Count);
    }

    [Fact]
    public async Task An_index_that_is_reset_begins_without_names()
    {
        _run.Define(
            "Products", "from p in docs.Products select new { _ = p.Attributes.Select(a => CreateField(a.Name, a.Value)) }");
        await PutAsync(1, "pot", ("Gone", "1"));
        await _run.WaitAsync();
        await PutAsync(1, "pot", ("Kept", "1"));
        await _run.WaitAsync();
        Assert.Equal(["Gone", "Kept"], Assert.Single(_run.Database.Indexes.List()).Fields);
        _run.Database.Indexes.Reset("Products");
        await _run.WaitAsync();
        Assert.Equal(["Kept"], Assert.Single(_run.Database.Indexes.List()).Fields);
    }

    /// <summary>
    /// Random documents come, change and go, in batches of any size, with the database closed now and then; each query of a name
    /// finds what a list of the documents says, and in the end the index has what one has that is built at once.
    /// </summary>
    [Theory]
    [InlineData("from p in docs.Products select new { p.Kind, _ = p.Attributes.Select(a => CreateField(a.Name, a.Value)) }")]
    [InlineData(
        "map('Products', p => ({ Kind: p.Kind, _: (p.Attributes || []).map(a => createField(a.Name, a.Value)) }))")]
    public async Task Random_documents_are_found_by_the_names_they_say(string map)
    {
        var random = new Random(Seed.Next());
        _run.Define("One", map);
        var model = new Dictionary<string, Dictionary<string, int>>(StringComparer.Ordinal);
        for (int round = 0; round < 40; round++)
        {
            var batch = new WriteBatch();
            for (int i = random.Next(1, 60); i > 0; i--)
            {
                string id = "products/" + random.Next(200).ToString(CultureInfo.InvariantCulture);
                if (random.Next(5) == 0)
                {
                    model.Remove(id);
                    batch.Delete(id);
                    continue;
                }

                var values = new Dictionary<string, int>(StringComparer.Ordinal);
                for (int n = random.Next(4); n > 0; n--)
                    values["F" + random.Next(2 + (3 * round)).ToString(CultureInfo.InvariantCulture)] = random.Next(5);
                model[id] = values;
                batch.Put(
                    id, Body("pot", [.. values.Select(static v => (v.Key, v.Value.ToString(CultureInfo.InvariantCulture)))]));
            }

            await _run.Database.WriteAsync(batch, TestContext.Current.CancellationToken);
            if (random.Next(6) == 0)
                _run.Reopen();
            for (int i = 0; i < 6; i++)
            {
                string name = "F" + random.Next(130).ToString(CultureInfo.InvariantCulture);
                int value = random.Next(5);
                IReadOnlyList<string> found = await _run.IdsAsync(
                    $"from index One where {name} = {value}", neverStale: random.Next(2) == 0);
                Assert.Equal(
                    model.Where(entry => entry.Value.TryGetValue(name, out int has) && has == value)
                        .Select(static entry => entry.Key)
                        .Order(StringComparer.Ordinal),
                    found.Order(StringComparer.Ordinal));
            }
        }

        _run.Define("Two", map);
        await _run.WaitAsync();
        foreach (string name in Enumerable.Range(0, 130).Select(static n => "F" + n.ToString(CultureInfo.InvariantCulture)))
        {
            IReadOnlyList<string> one = await _run.IdsAsync($"from index One where exists({name})"),
                two = await _run.IdsAsync($"from index Two where exists({name})");
            Assert.Equal(two.Order(StringComparer.Ordinal), one.Order(StringComparer.Ordinal));
        }
    }

    private async Task PutAsync(int product, string kind, params (string Name, string Json)[] attributes) =>
        await _run.Database.WriteAsync(
            new WriteBatch().Put($"products/{product}", Body(kind, attributes)), TestContext.Current.CancellationToken);

    private void DefineSums(string map, string reduce, string? outputTo = null) =>
        _run.Database.Indexes.Put(
            new IndexDefinition
            {
                Name = "Sums",
                Maps = [map],
                Reduce = reduce,
                OutputReduceToCollection = outputTo,
                Fields = [],
                Computes = true
            });

    private static (string Name, string Json) Json((string Name, int Value) attribute) =>
        (attribute.Name, attribute.Value.ToString(CultureInfo.InvariantCulture));

    private static byte[] Body(string kind, (string Name, string Json)[] attributes) => Encoding.UTF8.GetBytes(
        $"{{\"Kind\":\"{kind}\",\"Attributes\":["
            + string.Join(',', attributes.Select(static a => $"{{\"Name\":\"{a.Name}\",\"Value\":{a.Json}}}"))
            + "],\"@metadata\":{\"@collection\":\"Products\"}}");
}
