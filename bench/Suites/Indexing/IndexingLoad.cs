using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;
using Treepie.Bench.Suites.Search;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Storage.Memory;

namespace Treepie.Bench.Suites.Indexing;

/// <summary>
/// Indexes texts, all once or over and over on a thread of its own, and the questions that are asked meanwhile.
/// </summary>
internal sealed class IndexingLoad : IDisposable
{
    private static readonly IndexSchema Schema = new(
    [
        new IndexField("text", FieldAnalysis.FullText), new IndexField("tr", FieldAnalysis.Keyword), new IndexField("num"),
        new IndexField("day"),
    ]);

    private readonly SearchDocument[] documents;
    private readonly byte[] texts;
    private readonly int[] ends;
    private readonly int batchSize;
    private readonly IndexWriter writer;
    private readonly IndexBatch batch;
    private readonly ManualResetEventSlim hasEnded = new();
    private long put;
    private bool isEnding;

    public IndexingLoad(StorageEnvironment environment, SearchDocument[] documents, int batchSize)
    {
        this.documents = documents;
        this.batchSize = batchSize;
        ends = new int[documents.Length];
        texts = new byte[documents.Sum(document => Encoding.UTF8.GetByteCount(document.Text))];
        for (int i = 0, end = 0; i < documents.Length; i++)
            ends[i] = end += Encoding.UTF8.GetBytes(documents[i].Text, texts.AsSpan(end));
        writer = new IndexWriter(environment, Schema);
        batch = writer.BeginBatch();
    }

    /// <summary>Milliseconds of each batch since <see cref="Begin"/>.</summary>
    public List<double> Commits { get; } = [];

    /// <summary>Words that one text in 200 to 2,000 has.</summary>
    public static string[] Words(SearchDocument[] documents)
    {
        var counts = new Dictionary<string, int>(StringComparer.Ordinal);
        foreach (SearchDocument document in documents)
            foreach (string word in document.Text.Split(' ', StringSplitOptions.RemoveEmptyEntries).Distinct())
                counts[word] = counts.GetValueOrDefault(word) + 1;
        return [
            .. counts.Where(pair => pair.Value > documents.Length / 2_000 && pair.Value < documents.Length / 200)
                .Select(pair => pair.Key)
                .Order(StringComparer.Ordinal)
                .Take(200)];
    }

    /// <summary>The best ten of a word.</summary>
    public static SearchRequest Request(string word) => new()
    {
        Query = new FullTextQuery("text", word, All: false),
        Sort = [new SortKey("", SortKind.Score, Descending: true)],
        Take = 10,
    };

    /// <summary>Indexes all once.</summary>
    public void PutAll(CancellationToken cancellationToken) => Put(0, documents.Length, cancellationToken);

    /// <summary>Makes the files small.</summary>
    public void Tidy(CancellationToken cancellationToken) => writer.Tidy(null, cancellationToken);

    /// <summary>Begins to index all over again, until <see cref="End"/>.</summary>
    /// <param name="isQuiet">Whether on a quiet thread, as indexes of a database are.</param>
    public void Begin(bool isQuiet)
    {
        if (isQuiet)
            QuietThread.Start(Work, QuietThread.Steady);
        else
            new Thread(Work).Start();
    }

    /// <summary>Ends; returns how many were indexed since <see cref="Begin"/>.</summary>
    public long End()
    {
        Volatile.Write(ref isEnding, true);
        hasEnded.Wait();
        return put;
    }

    public void Dispose() => hasEnded.Dispose();

    private void Work()
    {
        while (!Volatile.Read(ref isEnding))
        {
            long began = Stopwatch.GetTimestamp();
            Put((int)(put % documents.Length), batchSize, CancellationToken.None);
            Commits.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
            put += batchSize;
        }

        hasEnded.Set();
    }

    private void Put(int from, int count, CancellationToken cancellationToken)
    {
        Span<byte> key = stackalloc byte[sizeof(int)], group = stackalloc byte[64];
        for (int i = from; i < from + count; i++)
        {
            int number = i % documents.Length;
            SearchDocument document = documents[number];
            BinaryPrimitives.WriteInt32BigEndian(key, number);
            batch.BeginEntry(key);
            batch.AddText(0, texts.AsSpan((number == 0 ? 0 : ends[number - 1])..ends[number]));
            batch.AddText(1, group[..Encoding.UTF8.GetBytes(document.Group, group)]);
            batch.AddLong(2, document.Number);
            batch.AddLong(3, document.Day);
            batch.EndEntry();
            if (batch.Count == batchSize || i + 1 == from + count)
                writer.Commit(batch, writer.LastEtag + 1, cancellationToken);
        }
    }
}
