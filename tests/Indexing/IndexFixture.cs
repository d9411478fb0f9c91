using System.Text;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Tests;

/// <summary>An index and its oracle, changed and asked together.</summary>
public sealed class IndexFixture : IDisposable
{
    private readonly TemporaryStore _store = new();
    private readonly IndexSchema _schema;
    private IndexWriter _writer;
    private IndexBatch _batch;
    private long _etag;

    /// <param name="schema">The fields.</param>
    /// <param name="firstId">The id of the first entry.</param>
    public IndexFixture(IndexSchema schema, long firstId = 0)
    {
        _schema = schema;
        Model = new NaiveIndex(schema);
        _writer = new IndexWriter(Environment, schema);
        _batch = _writer.BeginBatch();
        Environment.Write(transaction =>
        {
            Tree index = transaction.GetOrCreateTree(TreeNames.Index);
            IndexState state = IndexState.Read(index);
            state.NextEntryId = firstId;
            state.Write(index);
            return true;
        });
    }

    public NaiveIndex Model { get; }

    public StorageEnvironment Environment => _store.Environment;

    public void Put(string key, params (int Field, FieldValue Value)[] values)
    {
        Model.Put(key, values);
        Put(_batch, key, values);
    }

    internal static void Put(IndexBatch batch, string key, params IEnumerable<(int Field, FieldValue Value)> values)
    {
        batch.BeginEntry(Encoding.UTF8.GetBytes(key));
        foreach ((int field, FieldValue value) in values)
            Add(batch, field, value);
        batch.EndEntry();
    }

    public void Delete(string key)
    {
        Model.Delete(key);
        _batch.Delete(Encoding.UTF8.GetBytes(key));
    }

    public void ChangeRandomly(Random random, RandomData data, int changes, int keys)
    {
        for (int i = 0; i < changes; i++)
        {
            string key = "docs/" + random.Next(keys);
            if (random.Next(4) == 0)
                Delete(key);
            else
                Put(key, [.. data.Entry()]);
        }
    }

    public void Commit() => _writer.Commit(_batch, ++_etag);

    public void Tidy() => Assert.True(_writer.Tidy());

    public void Reopen()
    {
        _store.Reopen();
        _writer = new IndexWriter(Environment, _schema);
        Assert.Equal(_etag, _writer.LastEtag);
        _batch = _writer.BeginBatch();
    }

    /// <summary>Asks index and oracle, and compares keys, order and total.</summary>
    public void Check(SearchRequest request)
    {
        using var searcher = new IndexSearcher(Environment);
        Assert.Equal(Model.Count, searcher.EntryCount);
        Check(searcher, Model, request);
    }

    public static void Check(IndexSearcher searcher, NaiveIndex model, SearchRequest request, IndexTail? tail = null)
    {
        List<string> expected = [.. model.Search(request).Select(hit => hit.Key)];
        using SearchResults results = tail is null ? searcher.Search(request) : searcher.Search(request, tail);
        string what = Describe(request);
        bool isTotalRight = results.IsTotalExact
            ? expected.Count == results.TotalCount
            : !request.CountsHits && results.TotalCount <= expected.Count;
        Assert.True(isTotalRight, $"{what}: {results.TotalCount} hits, a scan finds {expected.Count}");
        List<string> page = [.. expected.Skip((int)request.Skip).Take((int)Math.Min(int.MaxValue, request.Take))];
        List<string> actual = Read(results);
        Assert.True(
            page.SequenceEqual(actual), $"{what}\nexpected {string.Join(' ', page)}\nactual   {string.Join(' ', actual)}");
    }

    /// <summary>Compares the scores with the reference, and the order with the scores.</summary>
    public void CheckScores(IndexQuery query, long take)
    {
        CheckScores(query, take, OrderHint.Cheaper, countsHits: true);
        CheckScores(query, take, OrderHint.Cheaper, countsHits: false);
        CheckScores(query, take, OrderHint.Sort, countsHits: true);
    }

    private void CheckScores(IndexQuery query, long take, OrderHint hint, bool countsHits)
    {
        var request = new SearchRequest
        {
            Query = query,
            Sort = [new SortKey("", SortKind.Score, Descending: true)],
            Take = take,
            OrderHint = hint,
            CountsHits = countsHits
        };
        Dictionary<string, double> expected = Model.Search(request).ToDictionary(hit => hit.Key, hit => hit.Score);
        using var searcher = new IndexSearcher(Environment);
        using SearchResults results = searcher.Search(request);
        string what = Describe(request);
        Assert.True(
            results.IsTotalExact ? expected.Count == results.TotalCount : !countsHits && expected.Count >= results.TotalCount,
            what);
        double last = double.PositiveInfinity;
        var seen = new HashSet<string>();
        while (results.MoveNext())
        {
            string key = Encoding.UTF8.GetString(results.Key);
            Assert.True(seen.Add(key), what);
            Assert.True(
                Math.Abs(expected[key] - results.Score) <= 1e-5 * Math.Max(1, expected[key]),
                $"{what}: {key} {results.Score} {expected[key]}");
            Assert.True(results.Score <= last, what);
            last = results.Score;
        }

        double[] best = [.. expected.Values.OrderDescending().Take((int)Math.Min(int.MaxValue, take))];
        Assert.Equal(best.Length, seen.Count);
        if (best.Length > 0)
            Assert.Equal(best[^1], last, 1e-4 * Math.Max(1, best[^1]));
    }

    public List<string> Keys(SearchRequest request)
    {
        using var searcher = new IndexSearcher(Environment);
        using SearchResults results = searcher.Search(request);
        return Read(results);
    }

    public void CheckStorage() => Assert.Empty(Environment.Check().Problems);

    public void Dispose() => _store.Dispose();

    internal static void Add(IndexBatch batch, int field, FieldValue value)
    {
        switch (value.Kind)
        {
            case FieldValueKind.Null: batch.AddNull(field); break;
            case FieldValueKind.Text: batch.AddText(field, Encoding.UTF8.GetBytes(value.Text!)); break; // of its kind
            case FieldValueKind.Long: batch.AddLong(field, value.Long); break;
            case FieldValueKind.Double: batch.AddDouble(field, value.Double); break;
            default: batch.AddBoolean(field, value.Boolean); break;
        }
    }

    internal static List<string> Read(SearchResults results)
    {
        var keys = new List<string>();
        while (results.MoveNext())
            keys.Add(Encoding.UTF8.GetString(results.Key));
        return keys;
    }

    internal static string Describe(SearchRequest request) =>
        $"{Describe(request.Query)} order by {string.Join(", ", request.Sort)} skip {request.Skip} take {request.Take}";

    private static string Describe(IndexQuery query) => query switch
    {
        AndQuery all => $"({string.Join(" and ", all.Clauses.Select(Describe))})",
        OrQuery any => $"({string.Join(" or ", any.Clauses.Select(Describe))})",
        NotQuery not => $"not {Describe(not.Clause)}",
        BoostQuery boost => $"boost({Describe(boost.Clause)}, {boost.Factor})",
        InQuery list => $"{list.Field} in [{string.Join(", ", list.Values.Select(value => Describe(value)))}]",
        AllInQuery list => $"{list.Field} all in [{string.Join(", ", list.Values.Select(value => Describe(value)))}]",
        TermQuery term => $"{term.Field} = {Describe(term.Value)}",
        RangeQuery range =>
            $"{range.Field} {(range.LowInclusive ? '[' : '(')}{Describe(range.Low)}, "
                + $"{Describe(range.High)}{(range.HighInclusive ? ']' : ')')}",
        _ => query.ToString(),
    };

    private static string Describe(FieldValue? value) =>
        value is { } some ? $"{some.Kind}:{(NaiveText.IsNull(some) ? "" : NaiveText.TextOf(some))}" : "open";
}
