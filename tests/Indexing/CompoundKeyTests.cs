using System.Text;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>The first hits of an equality in an order, by a compound key, against reading the sort value of every hit.</summary>
public sealed class CompoundKeyTests
{
    private static readonly IndexSchema _schema = new(
        [new IndexField("city"), new IndexField("year"), new IndexField("name"), new IndexField("price"), new IndexField(
            "text", FieldAnalysis.FullText)]);

    private static readonly CompoundKey[] _keys =
    [
        new("city", "name", CompoundOrder.Text), new("city", "price", CompoundOrder.Double),
        new("city", "price", CompoundOrder.Long), new("year", "name", CompoundOrder.Text),
        new("year", "price", CompoundOrder.Double), new("city", "city", CompoundOrder.Text),
    ];

    /// <param name="isPlain">Whether every entry has one value of a field at most, and numbers only where there are any, so
    /// that ranges of the order's field are walked, too.</param>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Answers_are_those_without_compound_keys_whenever_these_are_added_and_whatever_changes(bool isPlain)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        var waiting = new Queue<CompoundKey>(_keys.OrderBy(_ => random.Next()));
        for (int commit = 0; commit < 12; commit++)
        {
            Change(writer, random, commit, isPlain);
            if (random.Next(3) == 0)
            {
                store.Reopen();
                writer = new IndexWriter(store.Environment, _schema);
            }

            if (waiting.Count > 0 && random.Next(2) == 0)
                Assert.True(writer.TryAddCompound(waiting.Dequeue()));
            if (random.Next(2) == 0)
                writer.BuildCompounds(TestContext.Current.CancellationToken);
            for (int i = 0; i < 25; i++)
                Compare(store, RandomRequest(random), seed);
        }

        while (waiting.TryDequeue(out CompoundKey? key))
            Assert.True(writer.TryAddCompound(key));
        while (writer.BuildCompounds(TestContext.Current.CancellationToken))
        {
        }

        int along = 0, inRange = 0;
        for (int i = 0; i < 300; i++)
        {
            SearchRequest request = RandomRequest(random);
            int mine = Compare(store, request, seed);
            along += mine;
            inRange += request.Query is AndQuery { Clauses: [_, RangeQuery] } ? mine : 0;
        }

        Assert.True(along > 60, $"Seed {seed}: only {along} requests went along a compound key.");
        Assert.True(inRange > 4, $"Seed {seed}: only {inRange} requests with a range went along a compound key.");
        CheckTrees(store, writer);
    }

    [Fact]
    public void An_index_says_which_compound_key_it_lacks_and_takes_no_more_than_it_may()
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 2_000; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + i));
            batch.AddText(0, i % 2 == 0 ? "even"u8 : "odd"u8);
            batch.AddText(2, Encoding.UTF8.GetBytes($"name {i * 7919 % 2_000}"));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        var request = new SearchRequest
        {
            Query = new TermQuery("city", FieldValue.Of("even")),
            Sort = [new SortKey("name", SortKind.Text, true)],
            Take = 10
        };
        using (var searcher = new IndexSearcher(store.Environment))
        {
            using SearchResults results = searcher.Search(request, TestContext.Current.CancellationToken);
            Assert.Equal(_keys[0], results.MissingCompound);
            using SearchResults all = searcher.Search(
                request with { Take = long.MaxValue }, TestContext.Current.CancellationToken);
            Assert.Null(all.MissingCompound);
        }

        Assert.True(writer.TryAddCompound(_keys[0]));
        Assert.False(writer.TryAddCompound(_keys[0]));
        Assert.False(writer.TryAddCompound(new CompoundKey("text", "name", CompoundOrder.Text)));
        Assert.False(writer.TryAddCompound(new CompoundKey("city", "nowhere", CompoundOrder.Text)));
        Assert.True(writer.HasUnbuiltCompounds);
        Assert.False(writer.BuildCompounds(TestContext.Current.CancellationToken));
        using (var searcher = new IndexSearcher(store.Environment))
        {
            using SearchResults results = searcher.Search(
                request, new QueryOptions { Plan = PlanDetail.Counts }, TestContext.Current.CancellationToken);
            Assert.Null(results.MissingCompound);
            Assert.Equal("walk a compound key", results.Plan?.Operation);
            Assert.Equal(11, results.Counters.TermsScanned); // not the thousand that are even
            request = request with { WithPosition = true };
            for (int page = 0; page < 5; page++)
            {
                using SearchResults next = searcher.Search(
                    request, new QueryOptions { Plan = PlanDetail.Counts }, TestContext.Current.CancellationToken);
                Assert.Equal("walk a compound key", next.Plan?.Operation);
                Assert.InRange(next.Counters.TermsScanned, 10, 12); // wherever it goes on
                request = request with { After = next.Position };
            }
        }
    }

    /// <summary>
    /// Keys of entries beside compound keys: also after updates and deletes, in a tree that an earlier version began, which kept
    /// none, and for entries whose keys are too long.
    /// </summary>
    [Fact]
    public void A_walk_has_the_keys_of_its_hits_and_looks_up_only_those_that_are_not_kept()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        Assert.True(writer.TryAddCompound(_keys[0]));
        Assert.False(writer.BuildCompounds(TestContext.Current.CancellationToken));
        for (int commit = 0; commit < 4; commit++)
        {
            IndexBatch batch = writer.BeginBatch();
            for (int i = 0; i < 400; i++)
            {
                byte[] key = Encoding.UTF8.GetBytes($"{new string('k', i % 9 == 0 ? 70 : 1)}/{random.Next(600)}");
                batch.BeginEntry(key);
                batch.AddText(0, "Paris"u8);
                batch.AddText(2, Encoding.UTF8.GetBytes(Name(random)));
                batch.EndEntry();
            }

            writer.Commit(batch, commit + 1, TestContext.Current.CancellationToken);
            if (commit == 1)
                ForgetKeys(store);
            foreach (bool isDescending in new[] { false, true })
            {
                for (int skip = 0; skip < 500; skip += 45)
                {
                    var request = new SearchRequest
                    {
                        Query = new TermQuery("city", FieldValue.Of("paris")),
                        Sort = [new SortKey("name", SortKind.Text, isDescending)],
                        Skip = skip,
                        Take = 60,
                    };
                    using var searcher = new IndexSearcher(store.Environment);
                    string expected = Ask(searcher, request with { OrderHint = OrderHint.Sort }).Answer;
                    Assert.True(expected == Ask(searcher, request with { OrderHint = OrderHint.Compound }).Answer, $"Seed {seed}");
                    using SearchResults results = searcher.Search(
                        request with { OrderHint = OrderHint.Compound }, TestContext.Current.CancellationToken);
                    var untraced = new StringBuilder();
                    while (results.MoveNext())
                        untraced.Append(Encoding.UTF8.GetString(results.Key)).Append(' ');
                    Assert.True(expected == $"{untraced}{results.TotalCount}", $"Seed {seed}, from {skip}");
                }
            }
        }

        // Nothing is looked up: keys are what the tree holds.
        Rewrite(store, static value => value.Length > 0 ? [.. value, (byte)'!'] : value);
        using var other = new IndexSearcher(store.Environment);
        using SearchResults few = other.Search(
            new SearchRequest
            {
                Query = new TermQuery("city", FieldValue.Of("paris")),
                Sort = [new SortKey("name", SortKind.Text)],
                OrderHint = OrderHint.Compound,
            },
            TestContext.Current.CancellationToken);
        int kept = 0, lookedUp = 0;
        while (few.MoveNext())
            _ = few.Key[^1] == '!' ? kept++ : lookedUp++;
        Assert.True(kept > 20 && lookedUp > 20, $"Seed {seed}: {kept} kept, {lookedUp} looked up");
    }

    private static void ForgetKeys(TemporaryStore store) => Rewrite(store, static _ => []);

    /// <summary>Changes the values of the first compound key.</summary>
    private static void Rewrite(TemporaryStore store, Func<byte[], byte[]> change) =>
        store.Environment.Write(transaction =>
        {
            Treepie.Storage.Trees.Tree tree = transaction.GetOrCreateTree(TreeNames.Compound(0));
            var all = new List<(byte[] Key, byte[] Value)>();
            using (Treepie.Storage.Trees.Cursor cursor = tree.OpenCursor())
            {
                for (bool valid = cursor.MoveFirst(); valid; valid = cursor.MoveNext())
                    all.Add((cursor.Key.ToArray(), cursor.Value.ToArray()));
            }

            foreach ((byte[] key, byte[] value) in all)
                tree.Put(key, change(value));
            return true;
        });

    private static void Change(IndexWriter writer, Random random, int commit, bool isPlain)
    {
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 300; i++)
        {
            byte[] key = Encoding.UTF8.GetBytes("e/" + random.Next(1_500));
            if (random.Next(5) == 0)
            {
                batch.Delete(key);
                continue;
            }

            batch.BeginEntry(key);
            for (int values = random.Next(8) == 0 ? random.Next(isPlain ? 2 : 3) : 1; values > 0; values--)
                AddCity(batch, random);
            if (random.Next(6) > 0)
                batch.AddLong(1, 1990 + random.Next(4));
            else if (commit > 6)
                batch.AddText(1, "1991"u8);
            for (int values = random.Next(10) == 0 ? random.Next(isPlain ? 2 : 3) : 1; values > 0; values--)
                batch.AddText(2, Encoding.UTF8.GetBytes(Name(random)));
            switch (random.Next(6))
            {
                case 0:
                    break;
                case 1:
                    batch.AddNull(3);
                    break;
                case 2 when !isPlain:
                    batch.AddText(3, "dear"u8);
                    break;
                case 3:
                    batch.AddLong(3, random.Next(-3, 4));
                    break;
                default:
                    batch.AddDouble(3, random.Next(-8, 8) / 4.0);
                    break;
            }

            batch.AddText(4, "some words that are many"u8);
            batch.EndEntry();
        }

        writer.Commit(batch, commit + 1, TestContext.Current.CancellationToken);
    }

    private static void AddCity(IndexBatch batch, Random random)
    {
        if (random.Next(12) == 0)
            batch.AddNull(0);
        else
            batch.AddText(
                0,
                Encoding.UTF8.GetBytes(
                    random.Next(5) switch { 0 => "Rouen", 1 => "rouen\0x", 2 => new string('w', 200), 3 => "É", _ => "Paris" }));
    }

    /// <summary>Some of a few, some that differ behind the cut of a key, some with a zero.</summary>
    private static string Name(Random random) => random.Next(4) switch
    {
        0 => "same",
        1 => new string('x', 40) + random.Next(30),
        2 => "a\0" + random.Next(3),
        _ => "name " + random.Next(500),
    };

    private static SearchRequest RandomRequest(Random random)
    {
        IndexQuery equality = random.Next(7) switch
        {
            0 => new TermQuery("city", FieldValue.Of("ROUEN")),
            1 => new TermQuery("city", FieldValue.Of("rouen\0X")),
            2 => new TermQuery("city", FieldValue.Of(new string('w', 200))),
            3 => new TermQuery("city", FieldValue.Null),
            4 => new TermQuery("year", FieldValue.Of(1990 + random.Next(5))),
            5 => new TermQuery("year", FieldValue.Of("1991")),
            _ => new TermQuery("city", FieldValue.Of("paris")),
        };
        bool isDescending = random.Next(2) == 0;
        bool? areNullsFirst = random.Next(4) switch { 0 => true, 1 => false, _ => null };
        SortKey first = random.Next(4) switch
        {
            0 => new SortKey("price", SortKind.Double, isDescending, areNullsFirst),
            1 => new SortKey("price", SortKind.Long, isDescending, areNullsFirst),
            2 => new SortKey("city", SortKind.Text, isDescending, areNullsFirst),
            _ => new SortKey("name", SortKind.Text, isDescending, areNullsFirst),
        };
        IndexQuery query = random.Next(4) switch
        {
            0 => new AndQuery([equality, new ExistsQuery("price")]),
            1 => new AndQuery([equality, new NotQuery(new TermQuery("name", FieldValue.Of("same")))]),
            2 => new AndQuery([equality, RandomRange(random, first.Field)]),
            _ => equality,
        };
        return new SearchRequest
        {
            Query = query,
            CountsHits = random.Next(3) > 0,
            Sort = random.Next(2) == 0 ? [first] : [first, new SortKey("price", SortKind.Double, random.Next(2) == 0)],
            Skip = random.Next(3) == 0 ? random.Next(40) : 0,
            Take = random.Next(1, 30),
        };
    }

    private static RangeQuery RandomRange(Random random, string field)
    {
        FieldValue Bound() => field switch
        {
            "price" when random.Next(2) == 0 => FieldValue.Of(random.Next(-3, 4)),
            "price" => FieldValue.Of(random.Next(-8, 8) / 4.0),
            _ => FieldValue.Of(Name(random)),
        };
        FieldValue? low = random.Next(4) == 0 ? null : Bound(), high = low is null || random.Next(3) > 0 ? Bound() : null;
        return new RangeQuery(field, low, random.Next(2) == 0, high, random.Next(2) == 0);
    }

    /// <summary>
    /// Compares a page and some that go on from it; 1 where a compound key was gone along on all of them.
    /// </summary>
    private static int Compare(TemporaryStore store, SearchRequest request, int seed)
    {
        const int Pages = 4;
        using var searcher = new IndexSearcher(store.Environment);
        bool isAlong = true;
        request = request with { WithPosition = true };
        for (int page = 0; page < Pages; page++)
        {
            (string expected, _, byte[]? position) = Ask(searcher, request with { OrderHint = OrderHint.Sort });
            (string compound, string? way, _) = Ask(searcher, request with { OrderHint = OrderHint.Compound });
            Assert.True(expected == compound, $"Seed {seed}, {way}, page {page}: {request}\n{expected}\n{compound}");
            Assert.Equal(expected, Ask(searcher, request).Answer);
            isAlong &= way == "walk a compound key";
            if (position is null)
                break;
            request = request with { After = position, Skip = 0 };
        }

        return isAlong ? 1 : 0;
    }

    private static (string Answer, string? Way, byte[]? Position) Ask(IndexSearcher searcher, SearchRequest request)
    {
        using SearchResults results = searcher.Search(
            request, new QueryOptions { Plan = PlanDetail.Counts }, TestContext.Current.CancellationToken);
        var text = new StringBuilder();
        while (results.MoveNext())
            text.Append(Encoding.UTF8.GetString(results.Key)).Append(' ');
        text.Append(request.CountsHits ? results.TotalCount : -1)
            .Append(results.Position is { } position ? Convert.ToHexString(position) : "");
        return (text.ToString(), results.Plan?.Operation, results.Position);
    }

    /// <summary>Trees that grew with the index are those that are made at once.</summary>
    private static void CheckTrees(TemporaryStore store, IndexWriter writer)
    {
        List<string> grown = Dump(store);
        store.Environment.Write(static transaction =>
        {
            for (int i = 0; i < _keys.Length; i++)
                transaction.DropTree(TreeNames.Compound(i));
            List<CompoundRecord> all = CompoundRecord.Read(transaction.GetOrCreateTree(TreeNames.Index));
            CompoundRecord.Write(
                transaction.GetOrCreateTree(TreeNames.Index), [.. all.Select(static one => one with { NextEntryId = 0 })]);
            return true;
        });
        while (writer.BuildCompounds(TestContext.Current.CancellationToken))
        {
        }

        Assert.NotEmpty(grown);
        Assert.Equal(Dump(store), grown);
    }

    private static List<string> Dump(TemporaryStore store)
    {
        var all = new List<string>();
        using ReadTransaction read = store.Environment.BeginRead();
        for (int i = 0; i < _keys.Length; i++)
        {
            if (read.FindTree(TreeNames.Compound(i)) is not { } tree)
                continue;
            using Treepie.Storage.Trees.Cursor cursor = tree.OpenCursor();
            for (bool valid = cursor.MoveFirst(); valid; valid = cursor.MoveNext())
                all.Add($"{i} {Convert.ToHexString(cursor.Key)} {Encoding.UTF8.GetString(cursor.Value)}");
        }

        return all;
    }
}
