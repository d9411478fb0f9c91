using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// The first hits of a word in the order of a number, by walking the numbers, against reading the number of every hit.
/// </summary>
public sealed class OrderWalkTests
{
    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText), new IndexField("number")]);

    [Fact]
    public void A_walk_finds_the_entries_of_words_that_stand_in_all_windows_or_in_some()
    {
        const int Entries = 40_000;
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < Entries; i++)
        {
            // Words of every density; of some, whole windows have none, the first among them.
            int window = i >> 12;
            string text = string.Join(
                ' ',
                new[] { 2, 10, 60, 100 }
                    .Where(each => random.Next(each) == 0)
                    .Select(each => $"all{each} some{each}w{window % 3}"));
            batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + i));
            batch.AddText(0, Encoding.UTF8.GetBytes(text));
            batch.AddLong(1, random.Next(Entries / 2));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        string[] words = [
            .. new[] { 2, 10, 60, 100 }.SelectMany(
                each => new[] { $"all{each}", $"some{each}w0", $"some{each}w1", $"some{each}w2" })];
        foreach (string word in words)
        {
            foreach (int take in new[] { 1, 10, 150 })
            {
                var request = new SearchRequest
                {
                    Query = new FullTextQuery("text", word, All: true),
                    Sort = [new SortKey("number", SortKind.Long, random.Next(2) == 0)],
                    Take = take
                };
                string expected = Ask(store.Environment, request with { OrderHint = OrderHint.Sort });
                Assert.Equal(expected, Ask(store.Environment, request with { OrderHint = OrderHint.Walk }));
                Assert.Equal(expected, Ask(store.Environment, request));
            }
        }
    }

    /// <summary>
    /// The texts of numbers sort as numbers while all have the same number of digits: the dictionary's ends bound what a range
    /// leaves open.
    /// </summary>
    [Theory]
    [InlineData(1_900, 2_020, true)]
    [InlineData(-99, -10, true)]
    [InlineData(990, 1_010, false)]
    public void A_range_without_an_end_is_walked_in_the_order_of_texts_if_all_numbers_lie_in_it(int from, int to, bool isWalked)
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 5_000; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + i));
            if (i % 50 > 0)
                batch.AddLong(1, random.Next(from, to));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        using var searcher = new IndexSearcher(store.Environment);
        for (int i = 0; i < 60; i++)
        {
            var bound = FieldValue.Of(random.Next(from - 3, to + 3));
            bool isLow = random.Next(2) == 0, isInclusive = random.Next(2) == 0;
            var request = new SearchRequest
            {
                Query = new RangeQuery("number", isLow ? bound : null, isInclusive, isLow ? null : bound, isInclusive),
                Sort = [new SortKey("number", SortKind.Text, random.Next(2) == 0)],
                Take = 10,
            };
            Assert.Equal(
                Ask(store.Environment, request with { OrderHint = OrderHint.Sort }),
                Ask(store.Environment, request with { OrderHint = OrderHint.Walk }));
            using SearchResults results = searcher.Search(request, TestContext.Current.CancellationToken);
            Assert.True(results.Count == 0 || results.Counters.TermsScanned < (isWalked ? 200 : 5_000), $"{request}");
        }
    }

    [Fact]
    public void Entries_without_a_value_are_in_their_place_from_the_first_one_on()
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        for (int commit = 0; commit < 5; commit++)
        {
            IndexBatch batch = writer.BeginBatch();
            for (int i = 0; i < 200 && commit == 0; i++)
            {
                batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + i));
                batch.AddLong(1, random.Next(100));
                batch.EndEntry();
            }

            if (commit is 1 or 2)
            {
                // First without the field, then with a null in it.
                batch.BeginEntry("e/7"u8);
                if (commit == 2)
                    batch.AddNull(1);
                batch.EndEntry();
            }
            else if (commit == 3)
            {
                batch.Delete("e/7"u8);
            }
            else if (commit == 4)
            {
                batch.Delete("e/8"u8);
                batch.BeginEntry("e/9"u8);
                batch.EndEntry();
            }

            writer.Commit(batch, commit + 1, TestContext.Current.CancellationToken);
            foreach (bool? areNullsFirst in new bool?[] { null, true, false })
            {
                foreach (bool isDescending in new[] { false, true })
                {
                    var request = new SearchRequest
                    {
                        Query = new MatchAllQuery(),
                        Sort = [new SortKey("number", SortKind.Long, isDescending, areNullsFirst)],
                    };
                    string expected = Ask(store.Environment, request with { OrderHint = OrderHint.Sort });
                    Assert.Equal(expected, Ask(store.Environment, request with { OrderHint = OrderHint.Walk }));
                    expected = Ask(store.Environment, request with { OrderHint = OrderHint.Sort, Take = 5 });
                    Assert.Equal(expected, Ask(store.Environment, request with { OrderHint = OrderHint.Walk, Take = 5 }));
                }
            }
        }
    }

    /// <summary>
    /// Without a second key, entries of equal value are in the order of their ids, so the first of a list are enough, also of a
    /// field that has one value, or none.
    /// </summary>
    [Theory]
    [InlineData("one", SortKind.Long)]
    [InlineData("one", SortKind.Text)]
    [InlineData("two", SortKind.Double)]
    [InlineData("null", SortKind.Text)]
    [InlineData("none", SortKind.Long)]
    [InlineData("rare", SortKind.Long)]
    public void An_order_by_few_values_reads_a_page_of_the_first(string field, SortKind kind)
    {
        const int Entries = 30_000;
        string[] fields = ["one", "two", "null", "none", "rare", "half"];
        var schema = new IndexSchema([.. fields.Select(name => new IndexField(name))]);
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < Entries; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + i));
            batch.AddLong(0, 7);
            batch.AddLong(1, i / 3 % 2);
            batch.AddNull(2);
            if (i % 1_000 == 500)
                batch.AddLong(4, i);
            batch.AddLong(5, i / 7 % 2);
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        foreach (bool? areNullsFirst in new bool?[] { null, true, false })
        {
            foreach (bool isDescending in new[] { false, true })
            {
                foreach (IndexQuery query in new IndexQuery[] { new MatchAllQuery(), new TermQuery("half", FieldValue.Of(1)) })
                {
                    var request = new SearchRequest
                    {
                        Query = query,
                        Sort = [new SortKey(field, kind, isDescending, areNullsFirst)],
                        Take = 10
                    };
                    string expected = Ask(store.Environment, request with { OrderHint = OrderHint.Sort });
                    using var searcher = new IndexSearcher(store.Environment);
                    using SearchResults results = searcher.Search(request, TestContext.Current.CancellationToken);
                    Assert.Equal(expected, Text(results));
                    Assert.True(results.Counters.EntriesScanned < 10_000, $"{request}: {results.Counters.EntriesScanned}");
                }
            }
        }
    }

    /// <summary>
    /// What is left out is passed by blocks: with nulls on either side, terms of one entry and of very many, a second key, and
    /// numbers that are equal as whole numbers.
    /// </summary>
    [Theory]
    [InlineData("name", SortKind.Text)]
    [InlineData("size", SortKind.Long)]
    [InlineData("size", SortKind.Double)]
    public void Deep_pages_of_an_order_are_those_of_the_whole(string field, SortKind kind)
    {
        const int Entries = 6_000;
        var random = new Random(Seed.Next());
        var schema = new IndexSchema([new IndexField("name"), new IndexField("number"), new IndexField("size")]);
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < Entries; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + i));
            if (random.Next(20) > 0 && random.Next(2) == 0)
                batch.AddLong(2, random.Next(Entries));
            else if (random.Next(20) > 0)
                batch.AddDouble(2, random.Next(5) == 0 ? random.Next(3) + random.NextDouble() : random.NextDouble() * Entries);
            if (random.Next(20) > 0)
                batch.AddText(
                    0, Encoding.UTF8.GetBytes(random.Next(3) == 0 ? "many" + random.Next(4) : "name " + random.Next(Entries)));
            batch.AddLong(1, random.Next(10));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        long terms = 0;
        for (int i = 0; i < 80; i++)
        {
            SortKey first = new(
                field, kind, random.Next(2) == 0, random.Next(3) switch { 0 => null, 1 => true, _ => false });
            var request = new SearchRequest
            {
                Query = new MatchAllQuery(),
                Sort = random.Next(2) == 0 ? [first] : [first, new SortKey("number", SortKind.Long, random.Next(2) == 0)],
                Skip = random.Next(Entries + 50),
                Take = random.Next(1, 60),
            };
            string expected = Ask(store.Environment, request with { OrderHint = OrderHint.Sort });
            Assert.Equal(expected, Ask(store.Environment, request with { OrderHint = OrderHint.Walk }));
            Assert.Equal(expected, Ask(store.Environment, request));
            using var searcher = new IndexSearcher(store.Environment);
            using SearchResults walked = searcher.Search(
                request with { OrderHint = OrderHint.Walk }, TestContext.Current.CancellationToken);
            terms += walked.Counters.TermsScanned;
        }

        Assert.True(terms / 80 < Entries / 10, $"{terms / 80} terms a page");
    }

    /// <summary>
    /// Hits of a word in a range are counted without being kept: in windows of numbers, in one of numbers and fractions, in one
    /// in which some have none, and in one that is not full.
    /// </summary>
    [Fact]
    public void A_word_in_a_range_is_counted_without_keeping_its_hits_whatever_windows_its_numbers_are_in()
    {
        const int Entries = 30_000;
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        StorageEnvironment environment = store.Environment;
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        int[] each = [2, 5, 20, 60, 200];
        for (int i = 0; i < Entries; i++)
        {
            int window = i >> 12;
            batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + i));
            batch.AddText(
                0,
                Encoding.UTF8.GetBytes(
                    string.Join(
                        ' ',
                        each.Where(one => window == 5 || random.Next(one) == 0)
                            .Select(one => $"all{one} some{one}w{window % 3}"))));
            if (window == 2 && i % 7 == 0)
                batch.AddDouble(1, random.NextDouble() * Entries);
            else if (window != 3 || i % 5 != 0)
                batch.AddLong(1, random.Next(Entries));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        int apart = 0;
        foreach (string word in each.SelectMany(one => new[] { $"all{one}", $"some{one}w0", $"some{one}w1", $"some{one}w2" }))
        {
            foreach (int width in new[] { 300, 3_000, 15_000 })
            {
                long low = random.Next(Entries - width);
                var query = new AndQuery(
                    [new FullTextQuery("text", word, All: true), new RangeQuery(
                        "number", FieldValue.Of(low), random.Next(2) == 0, FieldValue.Of(low + width), random.Next(2) == 0)]);
                var request = new SearchRequest
                {
                    Query = query,
                    Sort = [new SortKey("number", SortKind.Long, random.Next(2) == 0)],
                    Take = random.Next(2) == 0 ? 10 : 100
                };
                string expected = Ask(environment, request with { OrderHint = OrderHint.Sort });
                foreach (OrderHint hint in Enum.GetValues<OrderHint>())
                    Assert.Equal(expected, Ask(environment, request with { OrderHint = hint }));

                using var searcher = new IndexSearcher(environment);
                using SearchResults planned = searcher.Search(
                    request, new QueryOptions { Plan = PlanDetail.Counts }, TestContext.Current.CancellationToken);
                Assert.Equal(expected, Text(planned));
                apart += planned.Plan!.Decisions.Any(decision => decision.Question == "how to count") ? 1 : 0; // it was asked for
            }
        }

        Assert.True(apart > 10, $"{apart} were counted without keeping hits");
    }

    /// <summary>
    /// Numbers in the order of their texts, between two of them: of one length, where a walk needs no other number, and of several.
    /// </summary>
    [Fact]
    public void Numbers_of_a_range_come_in_the_order_of_their_texts()
    {
        const int Entries = 5_000;
        var random = new Random(Seed.Next());
        var schema = new IndexSchema([new IndexField("name"), new IndexField("number")]);
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < Entries; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + i));
            batch.AddText(0, Encoding.UTF8.GetBytes("name" + random.Next(3)));
            switch (random.Next(10))
            {
                case 0:
                    break;
                case 1:
                    batch.AddDouble(1, random.Next(-4_000, 40_000) / 4.0);
                    break;
                default:
                    batch.AddLong(1, random.Next(-1_200, 12_000));
                    break;
            }

            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        int few = 0;
        for (int i = 0; i < 200; i++)
        {
            long low = random.Next(-1_300, 13_000), high = low + random.Next(-2, 3_000);
            var range = new RangeQuery(
                "number", FieldValue.Of(low), random.Next(2) == 0, FieldValue.Of(high), random.Next(2) == 0);
            SortKey first = new("number", SortKind.Text, random.Next(2) == 0);
            var request = new SearchRequest
            {
                Query = random.Next(2) == 0
                    ? range
                    : new AndQuery([new TermQuery("name", FieldValue.Of("name" + random.Next(3))), range]),
                Sort = random.Next(2) == 0 ? [first] : [first, new SortKey("name", SortKind.Text, random.Next(2) == 0)],
                Skip = random.Next(3) == 0 ? random.Next(300) : 0,
                Take = random.Next(1, 60),
                CountsHits = random.Next(2) == 0,
            };
            string expected = Ask(store.Environment, request with { OrderHint = OrderHint.Sort }, request.CountsHits);
            using var searcher = new IndexSearcher(store.Environment);
            using SearchResults walked = searcher.Search(
                request with { OrderHint = OrderHint.Walk }, TestContext.Current.CancellationToken);
            Assert.Equal(expected, Text(walked, request.CountsHits));
            Assert.Equal(expected, Ask(store.Environment, request, request.CountsHits));
            bool isOfOneLength = low >= 0 && high > low && $"{low}".Length == $"{high}".Length;
            if (isOfOneLength && request.Query == range && request.Skip == 0 && !request.CountsHits)
            {
                few++;
                Assert.True(walked.Counters.TermsScanned <= request.Take + 2, $"{walked.Counters.TermsScanned} terms");
            }
        }

        Assert.True(few > 5, $"{few} ranges of one length");
    }

    private static string Ask(StorageEnvironment environment, SearchRequest request, bool withTotal)
    {
        using var searcher = new IndexSearcher(environment);
        using SearchResults results = searcher.Search(request);
        return Text(results, withTotal);
    }

    private static string Text(SearchResults results, bool withTotal) =>
        withTotal ? Text(results) : string.Join(' ', Text(results).Split(' ').Skip(1));

    private static string Ask(StorageEnvironment environment, SearchRequest request)
    {
        using var searcher = new IndexSearcher(environment);
        using SearchResults results = searcher.Search(request);
        return Text(results);
    }

    private static string Text(SearchResults results)
    {
        var text = new StringBuilder().Append(results.TotalCount);
        while (results.MoveNext())
            text.Append(' ').Append(results.EntryId);
        return text.ToString();
    }
}
