using System.Text;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Vectors;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Vectors;

/// <summary>Searches by vector against the comparison of all of them, while entries come and go; and the graph itself.</summary>
public sealed class VectorIndexTests : IDisposable
{
    private readonly TemporaryStore _store = new();
    private readonly SortedDictionary<string, (float[][] Vectors, string Kind)> _model = new(StringComparer.Ordinal);
    private IndexWriter? _writer;
    private IndexBatch? _batch;
    private VectorFieldOptions _options = new();
    private long _etag;

    public void Dispose() => _store.Dispose();

    [Theory]
    [InlineData(VectorMetric.Cosine, false)]
    [InlineData(VectorMetric.Dot, false)]
    [InlineData(VectorMetric.Euclidean, false)]
    [InlineData(VectorMetric.Cosine, true)]
    [InlineData(VectorMetric.Hamming, true)]
    public void Exact_searches_find_what_a_scan_finds_while_entries_change(VectorMetric metric, bool isQuantised)
    {
        var random = new Random(Seed.Next());
        Open(new VectorFieldOptions(Metric: metric, IsQuantised: isQuantised, Edges: 6, IndexingCandidates: 24));
        for (int round = 0; round < 4; round++)
        {
            Change(random, 80, keys: 120, dimensions: 12);
            CheckGraph();
            for (int i = 0; i < 8; i++)
            {
                float[] wanted = Draw(random, 12);
                int count = random.Next(1, 20);
                IndexQuery query = new VectorQuery("v", wanted, count, IsExact: true);
                bool filtered = random.Next(2) == 0;
                if (filtered)
                    query = new AndQuery([query, new TermQuery("kind", FieldValue.Of("a"))]);
                (string Key, double Similarity)[] all = [
                    .. _model.Where(pair => pair.Value.Vectors.Length > 0 && (!filtered || pair.Value.Kind == "a"))
                        .Select(pair => (pair.Key, pair.Value.Vectors.Max(vector => Plain(wanted, vector, metric))))
                        .OrderByDescending(pair => pair.Item2)];
                double tolerance = isQuantised ? 0.03 : 1e-4;
                List<(string Key, float Score)> found = Search(query);
                Assert.Equal(Math.Min(count, all.Length), found.Count);
                for (int j = 0; j < found.Count; j++)
                {
                    double similarity = all.Single(pair => pair.Key == found[j].Key).Similarity;
                    double unit = metric == VectorMetric.Dot ? 12 : 1;
                    Assert.Equal(similarity, found[j].Score - (filtered ? 1 : 0), tolerance * unit);
                    Assert.Equal(all[j].Similarity, similarity, tolerance * unit * 2);
                }
            }
        }
    }

    [Theory]
    [InlineData(VectorMetric.Cosine)]
    [InlineData(VectorMetric.Euclidean)]
    public void The_graph_finds_nearly_all_of_the_nearest_ten_also_after_half_of_it_was_replaced(VectorMetric metric)
    {
        // 1,600 of 24 numbers here; TREEPIE_VECTORS=50000 for the large form.
        int count = int.TryParse(Environment.GetEnvironmentVariable("TREEPIE_VECTORS"), out int asked) ? asked : 1_600;
        const int Dimensions = 24;
        var random = new Random(Seed.Next());
        Open(new VectorFieldOptions(Metric: metric));
        Fill(random, 0, count, Dimensions);
        CheckGraph();
        double fresh = Recall(random, Dimensions);
        for (int i = 0; i < count / 6; i++)
            Delete("v/" + random.Next(count));
        Fill(random, count, count / 6, Dimensions);
        CheckGraph();
        double churned = Recall(random, Dimensions);
        Assert.True(fresh >= 0.95 && churned >= 0.95, $"recall {fresh:0.000} fresh, {churned:0.000} after changes");
        TestContext.Current.TestOutputHelper?.WriteLine($"recall {fresh:0.000} fresh, {churned:0.000} after changes");

        // With a filter as many are found as without, and nearly the right ones.
        float[] wanted = Draw(random, Dimensions);
        IndexQuery filter = new TermQuery("kind", FieldValue.Of("a"));
        List<(string Key, float Score)> near = Search(new AndQuery([filter, new VectorQuery("v", wanted, 10)]));
        List<(string Key, float Score)> exact = Search(new AndQuery([filter, new VectorQuery("v", wanted, 10, IsExact: true)]));
        Assert.Equal(10, near.Count);
        Assert.All(near, hit => Assert.Equal("a", _model[hit.Key].Kind));
        Assert.True(near.Select(hit => hit.Key).Intersect(exact.Select(hit => hit.Key)).Count() >= 8);
    }

    [Theory]
    [InlineData(3)]
    [InlineData(64)]
    [InlineData(100)]
    public void Signs_are_found_by_how_many_of_them_agree(int dimensions)
    {
        var random = new Random(Seed.Next());
        Open(new VectorFieldOptions(Metric: VectorMetric.Hamming, IsQuantised: true));
        Fill(random, 0, 1_600, dimensions);
        CheckGraph();
        for (int i = 0; i < 10; i++)
        {
            float[] wanted = Draw(random, dimensions);
            double[] best = [
                .. _model.Values.Select(entry => entry.Vectors.Max(vector => Plain(wanted, vector, VectorMetric.Hamming)))
                    .OrderDescending().Take(10)];
            List<(string Key, float Score)> found = Search(new VectorQuery("v", wanted, 10));
            Assert.True(found.Sum(hit => hit.Score) >= 0.95 * best.Sum(), $"{found.Sum(hit => hit.Score)} of {best.Sum()}");
            foreach ((string key, float score) in found)
                Assert.Equal(_model[key].Vectors.Max(vector => Plain(wanted, vector, VectorMetric.Hamming)), score, 1e-6);
        }
    }

    /// <summary>The same text in many documents is the same vector in many entries.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(10)]
    public void Entries_with_equal_vectors_are_all_reached(int different)
    {
        var random = new Random(Seed.Next());
        float[][] vectors = [.. Enumerable.Range(0, different).Select(_ => Draw(random, 8))];
        Open(new VectorFieldOptions());
        for (int i = 0; i < 2_000; i++)
            Put($"v/{i}", [vectors[random.Next(different)]], "a");
        Commit();
        CheckGraph();
        int equal = _model.Values.Count(entry => entry.Vectors[0] == vectors[0]);
        Assert.Equal(Math.Min(500, equal), Search(new VectorQuery("v", vectors[0], 500)).Count(hit => hit.Score > 0.999));
    }

    [Fact]
    public void A_new_vector_changes_the_links_of_few_others()
    {
        var random = new Random(Seed.Next());
        Open(new VectorFieldOptions());
        Fill(random, 0, 1_600, 24);
        int edited = _store.Environment.Write(transaction =>
        {
            Tree links = transaction.GetOrCreateTree("links.0");
            var editor = new VectorGraphEditor(transaction.GetOrCreateTree("vectors.0"), links, VectorState.Read(links), _options);
            editor.Insert(
                VectorNode.Encode(10_000, Draw(random, 24), _options.Metric), TestContext.Current.CancellationToken);
            return editor.EditedCount;
        }, TestContext.Current.CancellationToken);
        // In each of a few layers its neighbours, and a neighbour of each that lost a link; a search reads many more.
        Assert.InRange(edited, 2, 1 + (2 * _options.Edges * 3));
    }

    [Fact]
    public void The_same_changes_make_the_same_graph()
    {
        var seed = Seed.Next();
        Open(new VectorFieldOptions());
        Change(new Random(seed), 200, keys: 150, dimensions: 8);
        byte[] first = Links();
        using var other = new VectorIndexTests();
        other.Open(new VectorFieldOptions());
        other.Change(new Random(seed), 200, keys: 150, dimensions: 8);
        Assert.Equal(first, other.Links());
    }

    [Fact]
    public void The_last_vector_gone_leaves_an_empty_graph_that_grows_again()
    {
        var random = new Random(Seed.Next());
        Open(new VectorFieldOptions(Edges: 4));
        for (int round = 0; round < 3; round++)
        {
            Fill(random, 0, 60, 5);
            foreach (string key in _model.Keys.ToArray())
                Delete(key);
            Commit();
            CheckGraph();
            Assert.Empty(Search(new VectorQuery("v", Draw(random, 5), 3)));
        }
    }

    [Theory]
    [InlineData(4)]
    [InlineData(1)]
    public void A_vector_that_lost_dimensions_is_reported(int lost)
    {
        var random = new Random(Seed.Next());
        Open(new VectorFieldOptions());
        Fill(random, 0, 30, 33);
        _store.Environment.Write(transaction =>
        {
            Tree vectors = transaction.GetOrCreateTree("fullvectors.0");
            using Cursor cursor = vectors.OpenCursor();
            Assert.True(cursor.MoveFirst());
            byte[] key = cursor.Key.ToArray(), value = cursor.Value.ToArray();
            vectors.Put(key, value.AsSpan(..^lost));
            return 0;
        }, TestContext.Current.CancellationToken);
        Assert.Throws<CorruptionException>(() => Search(new VectorQuery("v", Draw(random, 33), 30, IsExact: true)));
    }

    [Fact]
    public void Less_similar_ones_can_be_left_out()
    {
        Open(new VectorFieldOptions());
        Put("x", [[1, 0]], "a");
        Put("y", [[0, 1]], "a");
        Put("xy", [[1, 1]], "a");
        Commit();
        Assert.Equal(["x", "xy"], Search(new VectorQuery("v", [2, 0], 10, MinimumSimilarity: 0.5f)).Select(hit => hit.Key));
        Assert.Equal(["x", "xy", "y"], Search(new VectorQuery("v", [2, 0], 10)).Select(hit => hit.Key));
        Assert.Equal(
            ["xy"],
            Search(new AndQuery([new VectorQuery("v", [1, 1], 1), new TermQuery("kind", FieldValue.Of("a"))]))
                .Select(hit => hit.Key));
    }

    [Fact]
    public void Vectors_that_are_compared_count_and_the_plan_says_why_they_were()
    {
        const int Vectors = 1_200;
        var random = new Random(Seed.Next());
        Open(new VectorFieldOptions());
        Fill(random, 0, Vectors, 8);
        float[] wanted = Draw(random, 8);
        var all = new VectorQuery("v", wanted, 10, IsExact: true);
        Assert.Equal(("all compared", "by the graph"), Ask(all, out long compared));
        Assert.InRange(compared, Vectors, Vectors + 100);
        Assert.Equal(("by the graph", "all compared"), Ask(all with { IsExact = false }, out long walked));
        Assert.InRange(walked, 96, compared - 1);
        var some = new AndQuery([all with { IsExact = false }, new TermQuery("kind", FieldValue.Of("a"))]);
        Assert.Equal("those that the other conditions leave compared", Ask(some, out _).Chosen);
        QueryBudgetExceededException error = Assert.Throws<QueryBudgetExceededException>(
            () => Ask(all, out _, new QueryBudget(Entries: 100)));
        Assert.Contains("vector", error.Message, StringComparison.Ordinal);

        (string Chosen, string NotTaken) Ask(IndexQuery query, out long entries, QueryBudget? budget = null)
        {
            using var searcher = new IndexSearcher(_store.Environment);
            using SearchResults results = searcher.Search(
                new SearchRequest { Query = query, Take = 10 }, new QueryOptions { Plan = PlanDetail.Counts, Budget = budget },
                TestContext.Current.CancellationToken);
            entries = results.Counters.EntriesScanned;
            PlanNode? nearest = Nearest(results.Plan);
            PlanDecision decision = Assert.Single(nearest?.Decisions ?? []);
            return (decision.Chosen, Assert.Single(decision.NotTaken).Name);
        }

        static PlanNode? Nearest(PlanNode? node) =>
            node is null || node.Operation == "nearest vectors"
                ? node
                : node.Children.Select(Nearest).FirstOrDefault(found => found is not null);
    }

    [Fact]
    public void What_is_no_vector_of_the_field_is_refused_and_the_index_goes_on()
    {
        Open(new VectorFieldOptions());
        Put("first", [[1, 2, 3]], "a");
        Commit();
        IndexBatch open = Batch;
        open.BeginEntry("wrong"u8);
        foreach (float[] wrong in (float[][])
        [
            [], [1, 2], [1, float.NaN, 3], [1, float.PositiveInfinity, 3], [1, 2e20f, 3], new float[5_000]
        ])
            Assert.Throws<InvalidVectorException>(() => open.AddVector(0, wrong));
        Assert.Throws<InvalidOperationException>(() => open.AddVector(1, [1, 2, 3]));
        Assert.Throws<InvalidOperationException>(() => open.AddLong(0, 5));
        open.EndEntry();
        Put("second", [[3, 2, 1]], "a");
        Commit();
        CheckGraph();
        foreach (float[] wrong in (float[][])[[], [1, 2], [1, float.NaN, 3]])
            Assert.Throws<IndexQueryException>(() => Search(new VectorQuery("v", wrong, 3)));
        Assert.Throws<IndexQueryException>(() => Search(new VectorQuery("v", [1, 2, 3], 0)));
        Assert.Throws<IndexQueryException>(() => Search(new VectorQuery("kind", [1, 2, 3], 5)));
        Assert.Equal(2, Search(new VectorQuery("v", [1, 2, 3], 5)).Count);
        Assert.Throws<IndexSchemaException>(() => Schema(new VectorFieldOptions(Edges: 1000)));
    }

    private static float[] Draw(Random random, int length) =>
        [.. Enumerable.Range(0, length).Select(_ => (float)((random.NextDouble() * 2) - 1))];

    private static double Plain(float[] left, float[] right, VectorMetric metric)
    {
        double dot = left.Zip(right, (x, y) => (double)x * y).Sum();
        return metric switch
        {
            VectorMetric.Cosine => dot / Math.Sqrt(left.Sum(x => (double)x * x) * right.Sum(x => (double)x * x)),
            VectorMetric.Dot => dot,
            VectorMetric.Hamming => left.Zip(right, (x, y) => x >= 0 == y >= 0 ? 1.0 : 0).Average(),
            _ => 1 / (1 + Math.Sqrt(left.Zip(right, (x, y) => (double)(x - y) * (x - y)).Sum())),
        };
    }

    private IndexBatch Batch => _batch ?? throw new InvalidOperationException("Open comes first.");

    private void Schema(VectorFieldOptions wanted)
    {
        using var store = new TemporaryStore();
        _ = new IndexWriter(store.Environment, new IndexSchema([new IndexField("v", FieldAnalysis.Vector, Vector: wanted)]));
    }

    private void Open(VectorFieldOptions wanted)
    {
        _options = wanted;
        _writer = new IndexWriter(
            _store.Environment,
            new IndexSchema([new IndexField("v", FieldAnalysis.Vector, Vector: wanted), new IndexField("kind")]));
        _batch = _writer.BeginBatch();
    }

    private void Fill(Random random, int from, int count, int dimensions)
    {
        for (int i = 0; i < count; i++)
        {
            Put("v/" + (from + i), [Draw(random, dimensions)], random.Next(8) == 0 ? "a" : "b");
            if (i % 1_000 == 999)
                Commit();
        }

        Commit();
    }

    private void Change(Random random, int changes, int keys, int dimensions)
    {
        for (int i = 0; i < changes; i++)
        {
            string key = "v/" + random.Next(keys);
            if (random.Next(4) == 0)
                Delete(key);
            else
                Put(
                    key,
                    [.. Enumerable.Range(0, random.Next(8) switch { 0 => 0, 1 => 2, _ => 1 })
                        .Select(_ => Draw(random, dimensions))],
                    random.Next(3) == 0 ? "a" : "b");
        }

        Commit();
    }

    private void Put(string key, float[][] vectors, string kind)
    {
        _model[key] = (vectors, kind);
        Batch.BeginEntry(Encoding.UTF8.GetBytes(key));
        foreach (float[] vector in vectors)
            Batch.AddVector(0, vector);
        Batch.AddText(1, Encoding.UTF8.GetBytes(kind));
        Batch.EndEntry();
    }

    private void Delete(string key)
    {
        _model.Remove(key);
        Batch.Delete(Encoding.UTF8.GetBytes(key));
    }

    private void Commit() => _writer?.Commit(Batch, ++_etag, TestContext.Current.CancellationToken);

    private double Recall(Random random, int dimensions)
    {
        const int Queries = 40;
        int found = 0;
        for (int i = 0; i < Queries; i++)
        {
            float[] wanted = Draw(random, dimensions);
            found += Search(new VectorQuery("v", wanted, 10))
                .Select(hit => hit.Key)
                .Intersect(Search(new VectorQuery("v", wanted, 10, IsExact: true)).Select(hit => hit.Key))
                .Count();
        }

        return found / (10.0 * Queries);
    }

    private List<(string Key, float Score)> Search(IndexQuery query)
    {
        using var searcher = new IndexSearcher(_store.Environment);
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = query, Sort = [new SortKey("", SortKind.Score, Descending: true)] },
            cancellationToken: TestContext.Current.CancellationToken);
        var found = new List<(string, float)>();
        while (results.MoveNext())
            found.Add((Encoding.UTF8.GetString(results.Key), results.Score));
        return found;
    }

    /// <summary>
    /// Every link has its counterpart, both ends exist in its layer, counts agree, and every vector is reached from where
    /// searches begin.
    /// </summary>
    private void CheckGraph()
    {
        using ReadTransaction read = _store.Environment.BeginRead();
        Tree? links = read.FindTree("links.0"),
            vectors = read.FindTree("vectors.0"),
            nodes = read.FindTree("nodes.0"),
            full = read.FindTree("fullvectors.0");
        Assert.NotNull(links);
        VectorState state = VectorState.Read(links);
        var graph = new VectorGraph(vectors, links, state, _options);
        var all = new HashSet<uint>();
        using (Cursor cursor = (vectors ?? throw new InvalidOperationException("no vectors")).OpenCursor())
        {
            for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
                all.Add(VectorKey.Read(cursor.Key));
        }

        int expected = _model.Values.Sum(entry => entry.Vectors.Length);
        Assert.Equal((expected, (long)expected, expected + 1L), (all.Count, state.Count, links.Count));
        Assert.Equal(_options.IsQuantised ? 0 : expected, full?.Count ?? 0);
        Assert.Equal(_model.Values.Count(entry => entry.Vectors.Length > 0), nodes?.Count ?? 0);
        uint[] mine = new uint[VectorGraph.MaxLinks], others = new uint[VectorGraph.MaxLinks];
        foreach (uint node in all)
        {
            for (int layer = 0; layer < graph.Layers(node); layer++)
            {
                int count = graph.Links(node, layer, mine);
                Assert.InRange(count, 0, graph.Limit(layer));
                foreach (uint other in mine.Take(count))
                {
                    Assert.Contains(other, all);
                    Assert.Contains(node, others.Take(graph.Links(other, layer, others)));
                }
            }
        }

        if (expected == 0)
            return;
        var reached = new HashSet<uint> { state.Entry };
        var open = new Queue<uint>(reached);
        while (open.TryDequeue(out uint node))
        {
            foreach (uint other in mine.Take(graph.Links(node, 0, mine)))
            {
                if (reached.Add(other))
                    open.Enqueue(other);
            }
        }

        Assert.True(reached.Count >= all.Count * 0.995, $"{reached.Count} of {all.Count} vectors are reached");
    }

    private byte[] Links()
    {
        using ReadTransaction read = _store.Environment.BeginRead();
        using Cursor cursor = (read.FindTree("links.0") ?? throw new InvalidOperationException("no links")).OpenCursor();
        var all = new List<byte>();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
        {
            all.AddRange(cursor.Key);
            all.AddRange(cursor.Value);
        }

        return [.. all];
    }
}
