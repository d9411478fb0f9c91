using System.Globalization;
using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Suggestions;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Searching;

/// <summary>
/// Searchers that stay open while the index changes in every way: what one answered when it was opened, it answers until it is
/// closed. In the end the index is the one that has the same entries from the start.
/// </summary>
public sealed class HeldSearchersTests
{
    private const int Keys = 120;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void A_searcher_answers_as_when_it_was_opened_whatever_is_written_meanwhile()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var data = new EveryKind(random);
        using var store = new TemporaryStore();
        var entries = new SortedDictionary<long, EveryKind.Entry>();
        var etags = new Dictionary<string, long>();
        var writer = new IndexWriter(store.Environment, new IndexSchema([.. EveryKind.Schema.Fields.Take(2)]));
        var held = new List<Held>();
        int rejected = 0;
        for (int step = 0; step < 160; step++)
        {
            int complete = writer.Pending?.FirstField ?? writer.Schema.Fields.Count;
            switch (random.Next(9))
            {
                case 0:
                    writer.Tidy(() => random.Next(4) > 0, Token);
                    break;
                case 1:
                    if (!writer.TryAddCompound(new CompoundKey("name", "number", (CompoundOrder)random.Next(3))))
                        writer.BuildCompounds(Token);
                    break;
                case 2 when writer.Pending is { } pending:
                    IndexBatch missing = writer.BeginBatch();
                    foreach (EveryKind.Entry entry in entries.Values)
                        entry.Put(missing, pending.FirstField, pending.EndField);
                    writer.CommitBackfill(missing, writer.LastEtag, Token);
                    break;
                case 2 when complete < EveryKind.Schema.Fields.Count && step > 20:
                    int wider = random.Next(complete + 1, EveryKind.Schema.Fields.Count + 1);
                    writer = new IndexWriter(store.Environment, new IndexSchema([.. EveryKind.Schema.Fields.Take(wider)]));
                    break;
                case 3:
                    IndexBatch failed = writer.BeginBatch();
                    data.Draw("docs/" + random.Next(Keys)).Put(failed, 0, complete);
                    Reject(writer, failed, random.Next(2) == 0);
                    rejected++;
                    break;
                case 4:
                    writer.ReleaseMemory();
                    writer.ClearErrors();
                    break;
                default:
                    Change(writer, data, random, entries, etags, complete);
                    break;
            }

            if (held.Count == 0 || random.Next(4) == 0)
                held.Add(new Held(store.Environment, data, random));
            Held one = held[random.Next(held.Count)];
            one.AnswersAsBefore($"seed {seed}, step {step}");
            if (held.Count > 6)
            {
                held[0].Dispose();
                held.RemoveAt(0);
            }
        }

        foreach (Held one in held)
        {
            one.AnswersAsBefore($"seed {seed}, at the end");
            one.Dispose();
        }

        Assert.True(rejected > 3, $"only {rejected} commits were rejected");
        Assert.Empty(store.Environment.Check(Token).Problems);
        EndsAsOneFromTheStart(store, writer, data, entries);
    }

    private static void EndsAsOneFromTheStart(
        TemporaryStore store, IndexWriter writer, EveryKind data, SortedDictionary<long, EveryKind.Entry> entries)
    {
        if (writer.Schema.Fields.Count < EveryKind.Schema.Fields.Count)
            writer = new IndexWriter(store.Environment, EveryKind.Schema);
        while (writer.Pending is { } pending)
        {
            IndexBatch missing = writer.BeginBatch();
            foreach (EveryKind.Entry entry in entries.Values)
                entry.Put(missing, pending.FirstField, pending.EndField);
            writer.CommitBackfill(missing, writer.LastEtag, Token);
        }

        while (writer.HasUnbuiltCompounds)
            writer.BuildCompounds(Token);
        store.Reopen();
        using StorageEnvironment whole = MemoryEnvironment.Open();
        var first = new IndexWriter(whole, EveryKind.Schema);
        IndexBatch batch = first.BeginBatch();
        foreach (EveryKind.Entry entry in entries.Values)
            entry.Put(batch);
        first.Commit(batch, 1, Token);
        using IndexSearcher expected = new(whole), searcher = new(store.Environment);
        Assert.Equal(expected.EntryCount, searcher.EntryCount);
        for (int i = 0; i < 120; i++)
            EveryKind.Compare(expected, searcher, data.Request());
    }

    /// <summary>A commit that fails changes nothing, and its batch is thrown away.</summary>
    private static void Reject(IndexWriter writer, IndexBatch batch, bool isCanceled)
    {
        long etag = writer.LastEtag;
        int count = batch.Count;
        if (isCanceled)
            Assert.ThrowsAny<OperationCanceledException>(
                () => writer.Commit(batch, etag + 1, new CancellationToken(canceled: true)));
        else
            Assert.Throws<TimeoutException>(
                () => writer.Commit(
                    batch, etag + 1,
                    static (transaction, _) =>
                    {
                        transaction.GetOrCreateTree("own").Put("a"u8, "b"u8);
                        throw new TimeoutException();
                    },
                    Token));
        Assert.Equal((etag, count), (writer.LastEtag, batch.Count));
    }

    private static void Change(
        IndexWriter writer, EveryKind data, Random random, SortedDictionary<long, EveryKind.Entry> entries,
        Dictionary<string, long> etags, int complete)
    {
        IndexBatch batch = writer.BeginBatch();
        long etag = writer.LastEtag;
        for (int i = random.Next(1, 25); i > 0; i--)
        {
            string key = "docs/" + random.Next(Keys);
            if (etags.Remove(key, out long before))
                entries.Remove(before);
            if (random.Next(4) == 0)
            {
                batch.Delete(Encoding.UTF8.GetBytes(key));
                etag++;
                continue;
            }

            EveryKind.Entry entry = data.Draw(key);
            entry.Put(batch, 0, complete);
            etags[key] = ++etag;
            entries[etag] = entry;
        }

        writer.Commit(batch, etag, Token);
    }

    /// <summary>A searcher, and what it was asked and answered when it was opened.</summary>
    private sealed class Held : IDisposable
    {
        private readonly IndexSearcher _searcher;
        private readonly List<(Func<string> Ask, string Answer)> _asked = [];

        public Held(StorageEnvironment environment, EveryKind data, Random random)
        {
            _searcher = new IndexSearcher(environment);
            string field = EveryKind.Schema.Fields[random.Next(EveryKind.Schema.Fields.Count)].Name;
            byte[] key = Encoding.UTF8.GetBytes("docs/" + random.Next(Keys));
            IndexQuery query = data.Query(1);
            SearchRequest[] requests = [.. Enumerable.Range(0, 6).Select(_ => data.Request())];
            Func<string>[] questions =
            [
                .. requests.Select(request => (Func<string>)(() => Hits(_searcher.Search(request, Token)))),
                () => $"{_searcher.EntryCount} {_searcher.LastEtag} {_searcher.CompleteFields} {_searcher.Schema.Fields.Count}",
                () => string.Join(' ', _searcher.Terms(field, null, 30)),
                () => _searcher.Entry(key) is { } found
                    ? string.Join(' ', found.Select(one => $"{one.Field}:{string.Join(',', one.Terms)}:{one.HasNull}"))
                    : "no entry",
                () => string.Join(
                    ' ',
                    _searcher.Facets(new FacetRequest(query, [new FacetQuery { Field = "name" }]), cancellationToken: Token)
                        .Facets[0].Values.Select(value => $"{value.Range} {value.Count}")),
                () => string.Join(
                    ' ', _searcher.Suggest(new SuggestionRequest { Field = "name", Text = "w1", Accuracy = 0 }, Token)),
            ];
            foreach (Func<string> ask in questions)
                _asked.Add((ask, Answer(ask)));
        }

        public void AnswersAsBefore(string what)
        {
            for (int i = 0; i < _asked.Count; i++)
            {
                string now = Answer(_asked[i].Ask);
                Assert.True(_asked[i].Answer == now, $"{what}, question {i}\nbefore {_asked[i].Answer}\nnow    {now}");
            }

            _searcher.ReleasePages();
        }

        public void Dispose() => _searcher.Dispose();

        /// <summary>Fields that the index does not have yet are refused, and stay so for this searcher.</summary>
        private static string Answer(Func<string> ask)
        {
            try
            {
                return ask();
            }
            catch (UnknownFieldException error)
            {
                return error.Message;
            }
        }

        private static string Hits(SearchResults results)
        {
            using (results)
            {
                var text = new StringBuilder().Append(CultureInfo.InvariantCulture, $"{results.TotalCount}:");
                while (results.MoveNext())
                    text.Append(
                        CultureInfo.InvariantCulture,
                        $" {Encoding.UTF8.GetString(results.Key)} {results.EntryId} {results.Score}");
                return text.ToString();
            }
        }
    }
}
