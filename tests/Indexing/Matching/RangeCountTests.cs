using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// Totals and first hits of ranges, alone and with a word, against the numbers themselves: dictionaries of many leaves, windows
/// of numbers that are full, have gaps, or were taken apart.
/// </summary>
public sealed class RangeCountTests
{
    private const int Count = 21_000;

    [Fact]
    public void Ranges_are_counted_exactly_alone_and_with_a_word_before_and_after_changes()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, new IndexSchema([new IndexField("word"), new IndexField("number")]));
        IndexBatch batch = writer.BeginBatch();
        var model = new List<(string Key, int Word, double Number)>();
        for (int i = 0; i < Count; i++)
            Put(i, random.NextInt64(1_000_000), random.Next(30));
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        Check("all are whole");

        // The third window loses so many that it is taken apart, the last one gets a fraction.
        foreach ((string key, int word, double number) in model.ToArray())
        {
            int i = int.Parse(key, System.Globalization.CultureInfo.InvariantCulture);
            if (i == 5_000 || (i is > 8_192 and < 12_000 && random.Next(20) > 0))
            {
                batch.Delete(Encoding.UTF8.GetBytes(key));
                model.Remove((key, word, number));
            }
        }

        Put(Count, 77_777.5, 3);
        writer.Commit(batch, 2, TestContext.Current.CancellationToken);
        Check("some are gone");
        Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);

        void Put(int i, double number, int word)
        {
            string key = i.ToString(System.Globalization.CultureInfo.InvariantCulture);
            batch.BeginEntry(Encoding.UTF8.GetBytes(key));
            batch.AddText(0, Encoding.UTF8.GetBytes("w" + Math.Max(0, word - 20)));
            batch.AddDouble(1, number);
            batch.EndEntry();
            model.Add((key, Math.Max(0, word - 20), number));
        }

        void Check(string what)
        {
            using var searcher = new IndexSearcher(environment);
            for (int round = 0; round < 120; round++)
            {
                double low = random.NextInt64(-10, 1_000_000),
                    high = round % 4 == 0 ? low + random.Next(200) : round % 4 == 1 ? 2_000_000 : low + random.NextInt64(300_000);
                bool lowIn = random.Next(2) == 0, highIn = random.Next(2) == 0, descending = random.Next(2) == 0;
                if (round % 3 == 0)
                    low = model[random.Next(model.Count)].Number;
                var range = new RangeQuery("number", FieldValue.Of(low), lowIn, FieldValue.Of(high), highIn);
                int word = random.Next(10);
                IndexQuery query = round % 2 == 0
                    ? range
                    : new AndQuery([new TermQuery("word", FieldValue.Of("w" + word)), range]);
                var inside = model.Where(
                    entry => (lowIn ? entry.Number >= low : entry.Number > low)
                        && (highIn ? entry.Number <= high : entry.Number < high)
                        && (round % 2 == 0 || entry.Word == word));
                string[] expected = [
                    .. (descending
                        ? inside.OrderByDescending(static entry => entry.Number)
                        : inside.OrderBy(static entry => entry.Number)).Take(10).Select(static entry => entry.Key)];
                foreach ((
                    OrderHint order,
                    RangeHint compared) in new[]
                    {
                        (OrderHint.Cheaper, RangeHint.Cheaper), (OrderHint.Sort, RangeHint.Column),
                        (OrderHint.Walk, RangeHint.Column), (OrderHint.Cheaper, RangeHint.Gather)
                    })
                {
                    using SearchResults found = searcher.Search(
                        new SearchRequest
                        {
                            Query = query,
                            Sort = [new SortKey("number", SortKind.Double, descending)],
                            Take = 10,
                            OrderHint = order
                        },
                        new QueryOptions { Hints = new PlanHints { Range = compared } }, TestContext.Current.CancellationToken);
                    Assert.True(
                        inside.Count() == found.TotalCount,
                        $"seed {seed}, {what}, round {round}, {order}, {compared}: {found.TotalCount} of {inside.Count()}");
                    Assert.Equal(expected, IndexFixture.Read(found));
                }
            }
        }
    }
}
