using System.Buffers.Binary;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;

namespace Treepie.Bench.Suites.Search;

/// <summary>The verses in an index of ours, as an automatic index of the database is made: relaxed, as it can be built again.</summary>
internal sealed class VerseIndex : IDisposable
{
    private static readonly IndexSchema Schema = new([new IndexField("text", FieldAnalysis.FullText), new IndexField("num")]);

    private readonly StorageEnvironment environment;
    private readonly IndexWriter writer;

    public VerseIndex(string path)
    {
        environment = StorageEnvironment.Open(path, new StorageOptions { Durability = Durability.Relaxed });
        writer = new IndexWriter(environment, Schema);
    }

    /// <summary>Indexes all verses in batches.</summary>
    public void Load(Verse[] verses, int batchSize, CancellationToken cancellationToken)
    {
        IndexBatch batch = writer.BeginBatch();
        byte[] key = new byte[sizeof(int)];
        for (int i = 0; i < verses.Length; i++)
        {
            BinaryPrimitives.WriteInt32BigEndian(key, i);
            batch.BeginEntry(key);
            batch.AddText(0, verses[i].Text);
            batch.AddLong(1, verses[i].Number);
            batch.EndEntry();
            if ((i + 1) % batchSize == 0 || i + 1 == verses.Length)
                writer.Commit(batch, i + 1, cancellationToken);
        }
    }

    /// <summary>Asks; gives the number of hits, and the scores of the best ones.</summary>
    public (long Total, double[] Scores) Ask(SearchQuestion question)
    {
        using var searcher = new IndexSearcher(environment);
        var request = new SearchRequest
        {
            Query = question.Query,
            Sort = question.Top > 0 ? [new SortKey("", SortKind.Score, Descending: true)] : [],
            Take = question.Top,
        };
        using SearchResults results = searcher.Search(request);
        double[] scores = new double[results.Count];
        for (int i = 0; results.MoveNext(); i++)
            scores[i] = results.Score;
        return (results.TotalCount, scores);
    }

    public void Dispose() => environment.Dispose();
}
