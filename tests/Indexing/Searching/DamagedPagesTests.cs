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
/// An index with structures of every kind, one page of its file damaged after the other: each question has the answer that it
/// had before, or the store is reported as damaged.
/// </summary>
public sealed class DamagedPagesTests
{
    private const int PageBytes = 8_192, Entries = 500, Questions = 30;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void Each_damaged_page_changes_no_answer_and_some_of_them_are_reported()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var directory = new TemporaryDirectory();
        Fill(directory.Path, random);
        Func<IndexSearcher, string>[] questions = Draw(random);
        string[] answers;
        using (StorageEnvironment environment = Open(directory.Path))
        using (var searcher = new IndexSearcher(environment))
            answers = [.. questions.Select(ask => ask(searcher))];
        string file = Directory.GetFiles(directory.Path).MaxBy(static name => new FileInfo(name).Length)!; // there are files
        byte[] whole = File.ReadAllBytes(file);
        int same = 0, reported = 0, pages = whole.Length / PageBytes, damagedPages = 0;
        for (int page = 2; page < pages; page += random.Next(1, 1 + (pages / 60)))
        {
            byte[] bytes = [.. whole];
            Damage(bytes.AsSpan(page * PageBytes, PageBytes), random);
            File.WriteAllBytes(file, bytes);
            int before = reported;
            try
            {
                using StorageEnvironment environment = Open(directory.Path);
                using var searcher = new IndexSearcher(environment);
                for (int i = 0; i < questions.Length; i++)
                {
                    try
                    {
                        string answer = questions[i](searcher);
                        Assert.True(
                            answer == answers[i],
                            $"seed {seed}, page {page}, question {i}\nbefore {answers[i]}\nnow    {answer}");
                        same++;
                    }
                    catch (CorruptionException error)
                    {
                        Assert.Contains(
                            page.ToString(CultureInfo.InvariantCulture), error.Message.Replace(",", "", StringComparison.Ordinal),
                            StringComparison.Ordinal);
                        reported++;
                    }
                }
            }
            catch (CorruptionException)
            {
                reported++;
            }

            damagedPages += reported > before ? 1 : 0;
        }

        Assert.True(same > 500 && damagedPages > 15, $"{same} answers, {reported} reports of {damagedPages} pages of {pages}");
    }

    private static StorageEnvironment Open(string path) =>
        StorageEnvironment.Open(path, new StorageOptions { Durability = Durability.Relaxed, ReadOnly = true });

    /// <summary>One bit, some bytes, or the rest of the page.</summary>
    private static void Damage(Span<byte> page, Random random)
    {
        int from = random.Next(page.Length);
        switch (random.Next(3))
        {
            case 0:
                page[from] ^= (byte)(1 << random.Next(8));
                break;
            case 1:
                for (int i = 0; i < 6; i++)
                    page[random.Next(page.Length)] ^= (byte)random.Next(1, 256);
                break;
            default:
                page[from] ^= 1; // the rest may be zeros already
                page[(from + 1)..].Clear();
                break;
        }
    }

    /// <summary>Questions of every kind, in an order that reads each structure before and after the others.</summary>
    private static Func<IndexSearcher, string>[] Draw(Random random)
    {
        var data = new EveryKind(random);
        var questions = new List<Func<IndexSearcher, string>>
        {
            static searcher => string.Join(' ', searcher.Terms("name", null, 1_000)),
            static searcher => string.Join(' ', searcher.Terms("number", null, 1_000)),
            static searcher => string.Join(' ', searcher.Terms("text", null, 1_000)),
            static searcher => string.Join(
                ' ', searcher.Suggest(new SuggestionRequest { Field = "tag", Text = "w1", Accuracy = 0 }, Token)),
            static searcher => string.Join(' ', searcher.MeasureStructures(Token)),
        };
        for (int i = 0; i < Questions; i++)
        {
            SearchRequest request = data.Request();
            IndexQuery query = data.Query(1);
            byte[] key = Encoding.UTF8.GetBytes($"docs/{random.Next(Entries)}");
            questions.Add(searcher => Hits(searcher.Search(request, Token)));
            questions.Add(
                searcher => string.Join(
                    ' ',
                    searcher.Facets(
                        new FacetRequest(query, [new FacetQuery { Field = "name", Aggregates = ["number"] }]),
                        cancellationToken: Token).Facets[0].Values.Select(one => $"{one.Range} {one.Count} {one.Figures[0]}")));
            questions.Add(
                searcher => searcher.Entry(key) is { } found
                    ? string.Join(' ', found.Select(one => $"{one.Field}:{string.Join(',', one.Terms)}:{one.HasNull}"))
                    : "no entry");
        }

        Func<IndexSearcher, string>[] mixed = [.. questions];
        random.Shuffle(mixed);
        return mixed;
    }

    private static string Hits(SearchResults results)
    {
        using (results)
        {
            var text = new StringBuilder().Append(CultureInfo.InvariantCulture, $"{results.TotalCount}:");
            while (results.MoveNext())
                text.Append(CultureInfo.InvariantCulture, $" {Encoding.UTF8.GetString(results.Key)} {results.Score}");
            return text.ToString();
        }
    }

    /// <summary>Entries of two commits, of which the second replaces and removes some, with a compound key.</summary>
    private static void Fill(string path, Random random)
    {
        var data = new EveryKind(random);
        using StorageEnvironment environment = StorageEnvironment.Open(
            path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, EveryKind.Schema);
        Assert.True(writer.TryAddCompound(new CompoundKey("name", "number", CompoundOrder.Double)));
        IndexBatch batch = writer.BeginBatch();
        for (int commit = 1; commit <= 2; commit++)
        {
            for (int i = 0; i < Entries / commit; i++)
            {
                int key = commit == 1 ? i : random.Next(Entries);
                if (commit == 2 && random.Next(3) == 0)
                    batch.Delete(Encoding.UTF8.GetBytes($"docs/{key}"));
                else
                    data.Draw($"docs/{key}").Put(batch);
            }

            writer.Commit(batch, commit, Token);
        }

        while (writer.BuildCompounds(Token))
        {
        }
    }
}
