using System.Text;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Storage.Transactions;

namespace Treepie.Indexing.Tests.Writing;

/// <summary>Entries whose numbers of words are around what one and two bytes hold.</summary>
public sealed class WordCountTests
{
    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText)]);

    [Theory]
    [InlineData(255, false)]
    [InlineData(256, false)]
    [InlineData(257, true)]
    [InlineData(65_535, false)]
    [InlineData(65_536, true)]
    [InlineData(65_537, false)]
    public void An_entry_is_found_by_its_last_words_and_leaves_nothing(int count, bool isOneWord)
    {
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        string[] words = [
            .. Enumerable.Range(0, count - 1).Select(i => isOneWord ? "w" : $"w{i}"),
            "last"];
        batch.BeginEntry("long"u8);
        batch.AddText(0, Encoding.ASCII.GetBytes(string.Join(' ', words)));
        batch.EndEntry();
        batch.BeginEntry("short"u8);
        batch.AddText(0, "last of all"u8);
        batch.EndEntry();
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);

        using (var searcher = new IndexSearcher(environment))
        {
            Assert.Equal(["long"], Find(new PhraseQuery("text", $"{words[^2]} last")));
            Assert.Equal(["short", "long"], Find(new FullTextQuery("text", "last", All: false))); // the shorter one ranks first
            Assert.Equal(["short"], Find(new PhraseQuery("text", "last of")));
            Assert.Equal(isOneWord ? 2 : count, searcher.Entry("long"u8)!.Single().Terms.Count); // it has just been found
            Assert.Equal(
                count + 3L,
                FieldStatistics.Read(searcher.View.Tree(TreeNames.Index) ?? throw new InvalidOperationException(), 0).TotalTerms);

            List<string> Find(IndexQuery query)
            {
                using SearchResults found = searcher.Search(
                    new SearchRequest { Query = query, Sort = [new SortKey("", SortKind.Score, Descending: true)] },
                    cancellationToken: TestContext.Current.CancellationToken);
                return IndexFixture.Read(found);
            }
        }

        batch.Delete("long"u8);
        batch.Delete("short"u8);
        writer.Commit(batch, 2, TestContext.Current.CancellationToken);
        using ReadTransaction read = environment.BeginRead();
        Assert.Equal(0, FieldStatistics.Read(read.FindTree(TreeNames.Index), 0).TotalTerms);
        Assert.Equal(["index"], read.TreeNames.Where(name => read.FindTree(name) is { Count: > 0 }));
    }
}
