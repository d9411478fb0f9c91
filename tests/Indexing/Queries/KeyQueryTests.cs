using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Queries;

/// <summary>
/// Queries by key, and conditions that entries of one owner meet together, against a scan of the keys. An owner has several
/// entries: its text, a byte that no text has, and a number.
/// </summary>
public sealed class KeyQueryTests
{
    private const string Letters = "abAé";

    private static readonly IndexSchema _schema = new([new IndexField("name"), new IndexField("tag")]);

    [Fact]
    public void Keys_are_found_as_a_scan_finds_them()
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        List<Entry> entries = Fill(store, random, owners: 400);
        using var searcher = new IndexSearcher(store.Environment);
        for (int i = 0; i < 400; i++)
        {
            string[] keys = [.. Enumerable.Range(0, random.Next(0, 4)).Select(_ => Text(random))];
            Check(searcher, entries, new KeyQuery(keys), entry => keys.Contains(entry.Owner));
            Check(
                searcher, entries, new KeyQuery(keys, IsPrefix: true),
                entry => Array.Exists(keys, key => entry.Owner.StartsWith(key, StringComparison.Ordinal)));
            string? low = random.Next(5) == 0 ? null : Text(random), high = random.Next(5) == 0 ? null : Text(random);
            bool withLow = random.Next(2) == 0, withHigh = random.Next(2) == 0;
            Check(
                searcher, entries, new KeyRangeQuery(low, withLow, high, withHigh),
                entry => (low is null || NaiveText.CompareText(entry.Owner, low) > (withLow ? -1 : 0))
                    && (high is null || NaiveText.CompareText(entry.Owner, high) < (withHigh ? 1 : 0)));
            string end = Text(random);
            Check(
                searcher, entries, new KeyPatternQuery(end, IsRegex: false),
                entry => entry.Owner.EndsWith(end, StringComparison.Ordinal));

            // The letters of an expression are lower case.
            Check(
                searcher, entries, new KeyPatternQuery($"^{end}.?$", IsRegex: true),
                entry => entry.Owner.StartsWith(NaiveText.Fold(end), StringComparison.Ordinal)
                    && entry.Owner.Length - end.Length is 0 or 1);
        }
    }

    [Fact]
    public void Conditions_are_met_together_by_the_entries_of_an_owner()
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        List<Entry> entries = Fill(store, random, owners: 3_000);
        using var searcher = new IndexSearcher(store.Environment);
        int hits = 0;
        for (int i = 0; i < 60; i++)
        {
            (int Name, int Tag)[] wanted =
                [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => (random.Next(-1, 5), random.Next(-1, 5)))];
            IndexQuery[] clauses =
            [
                .. wanted.Select(
                    want => new AndQuery(
                    [
                        want.Name < 0 ? new MatchAllQuery() : new TermQuery("name", FieldValue.Of("n" + want.Name)),
                        want.Tag < 0 ? new MatchAllQuery() : new TermQuery("tag", FieldValue.Of("t" + want.Tag)),
                    ])),
            ];
            bool Meets(Entry entry, (int Name, int Tag) want) =>
                (want.Name < 0 || entry.Name == want.Name) && (want.Tag < 0 || entry.Tag == want.Tag);
            HashSet<string> owners =
            [
                .. entries.GroupBy(entry => entry.Owner)
                    .Where(owner => Array.TrueForAll(wanted, want => owner.Any(entry => Meets(entry, want))))
                    .Select(owner => owner.Key),
            ];
            bool IsHit(Entry entry) => owners.Contains(entry.Owner) && Array.Exists(wanted, want => Meets(entry, want));
            hits += Check(searcher, entries, new IntersectQuery(clauses), IsHit);
            Check(
                searcher, entries, new AndQuery([new IntersectQuery(clauses), new TermQuery("name", FieldValue.Of("n1"))]),
                entry => IsHit(entry) && entry.Name == 1);
            Check(searcher, entries, new NotQuery(new IntersectQuery(clauses)), entry => !IsHit(entry));
        }

        Assert.True(hits > 1_000, $"only {hits} hits");
    }

    [Fact]
    public void An_index_without_entries_has_no_keys()
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        writer.Commit(writer.BeginBatch(), 1, TestContext.Current.CancellationToken);
        using var searcher = new IndexSearcher(store.Environment);
        Check(searcher, [], new KeyQuery(["a"]), _ => true);
        Check(searcher, [], new KeyQuery([""], IsPrefix: true), _ => true);
        Check(searcher, [], new KeyRangeQuery(null, true, "b", true), _ => true);
        Check(searcher, [], new KeyPatternQuery("", IsRegex: false), _ => true);
        Check(searcher, [], new IntersectQuery([new MatchAllQuery()]), _ => true);
    }

    private static int Check(IndexSearcher searcher, List<Entry> entries, IndexQuery query, Func<Entry, bool> matches)
    {
        string[] expected =
            [.. entries.Where(matches).Select(entry => Convert.ToHexString(entry.Key)).Order(StringComparer.Ordinal)];
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = query }, TestContext.Current.CancellationToken);
        var found = new List<string>();
        while (results.MoveNext())
            found.Add(Convert.ToHexString(results.Key));
        string[] actual = [.. found.Order(StringComparer.Ordinal)];
        Assert.True(
            expected.SequenceEqual(actual),
            $"{query}\nexpected {string.Join(' ', expected)}\nactual   {string.Join(' ', actual)}");
        return expected.Length;
    }

    private static List<Entry> Fill(TemporaryStore store, Random random, int owners)
    {
        var entries = new List<Entry>();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        var seen = new HashSet<string>();
        for (int i = 0; i < owners; i++)
        {
            string owner = owners > 1_000 ? "o" + i : Text(random);
            if (owner.Length == 0 || !seen.Add(owner))
                continue;
            int count = random.Next(1, 4);
            for (int n = 0; n < count; n++)
            {
                byte[] key = [.. Encoding.UTF8.GetBytes(owner), .. count == 1 ? [] : new byte[] { 0xFF, (byte)n }];
                var entry = new Entry(key, owner, random.Next(5), random.Next(5));
                entries.Add(entry);
                batch.BeginEntry(key);
                batch.AddText(0, Encoding.UTF8.GetBytes("n" + entry.Name));
                batch.AddText(1, Encoding.UTF8.GetBytes("t" + entry.Tag));
                batch.EndEntry();
            }
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        return entries;
    }

    private static string Text(Random random) =>
        string.Concat(Enumerable.Range(0, random.Next(0, 6)).Select(_ => Letters[random.Next(Letters.Length)]));

    private sealed record Entry(byte[] Key, string Owner, int Name, int Tag);
}
