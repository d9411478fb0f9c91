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
    private static readonly IndexSchema _schema = new(
    [
        new IndexField("text", FieldAnalysis.FullText), new IndexField("tr", FieldAnalysis.Keyword), new IndexField("num"),
        new IndexField("day"),
    ]);

    private readonly SearchDocument[] _documents;
    private readonly byte[] _texts;
    private readonly int[] _ends;
    private readonly int _batchSize;
    private readonly IndexWriter _writer;
    private readonly IndexBatch _batch;
    private readonly ManualResetEventSlim _hasEnded = new();
    private long _put;
    private bool _isEnding;

    public IndexingLoad(StorageEnvironment environment, SearchDocument[] documents, int batchSize)
    {
        _documents = documents;
        _batchSize = batchSize;
        _ends = new int[documents.Length];
        _texts = new byte[documents.Sum(document => Encoding.UTF8.GetByteCount(document.Text))];
        for (int i = 0, end = 0; i < documents.Length; i++)
            _ends[i] = end += Encoding.UTF8.GetBytes(documents[i].Text, _texts.AsSpan(end));
        _writer = new IndexWriter(environment, _schema);
        _batch = _writer.BeginBatch();
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
    public void PutAll(CancellationToken cancellationToken) => Put(0, _documents.Length, cancellationToken);

    /// <summary>Makes the files small.</summary>
    public void Tidy(CancellationToken cancellationToken) => _writer.Tidy(null, cancellationToken);

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
        Volatile.Write(ref _isEnding, true);
        _hasEnded.Wait();
        return _put;
    }

    public void Dispose() => _hasEnded.Dispose();

    private void Work()
    {
        while (!Volatile.Read(ref _isEnding))
        {
            long began = Stopwatch.GetTimestamp();
            Put((int)(_put % _documents.Length), _batchSize, CancellationToken.None);
            Commits.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
            _put += _batchSize;
        }

        _hasEnded.Set();
    }

    private void Put(int from, int count, CancellationToken cancellationToken)
    {
        Span<byte> key = stackalloc byte[sizeof(int)], group = stackalloc byte[64];
        for (int i = from; i < from + count; i++)
        {
            int number = i % _documents.Length;
            SearchDocument document = _documents[number];
            BinaryPrimitives.WriteInt32BigEndian(key, number);
            _batch.BeginEntry(key);
            _batch.AddText(0, _texts.AsSpan((number == 0 ? 0 : _ends[number - 1]).._ends[number]));
            _batch.AddText(1, group[..Encoding.UTF8.GetBytes(document.Group, group)]);
            _batch.AddLong(2, document.Number);
            _batch.AddLong(3, document.Day);
            _batch.EndEntry();
            if (_batch.Count == _batchSize || i + 1 == from + count)
                _writer.Commit(_batch, _writer.LastEtag + 1, cancellationToken);
        }
    }
}
