using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;

namespace Treepie.Bench.Suites.Search;

/// <summary>The texts in an index of ours.</summary>
internal sealed class TreepieVerses : ISearchEngine
{
    private static readonly IndexSchema _schema = new(
    [
        new IndexField("text", FieldAnalysis.FullText), new IndexField("tr", FieldAnalysis.Keyword), new IndexField("num"),
        new IndexField("day"),
    ]);

    private readonly StorageEnvironment _environment;

    /// <summary>Opens the index as a database opens its indexes, see <see cref="Load"/>.</summary>
    public TreepieVerses(string path) =>
        _environment = StorageEnvironment.Open(
            path, new StorageOptions { Durability = Durability.Relaxed, IsBackgroundQuiet = true });

    public string Name => "Treepie";

    public bool HasCompiler => true;

    /// <summary>
    /// Indexes a file of documents in batches; returns how many. Each is durable when the next begins: by a checkpoint, as
    /// indexes keep no journal. (Those of a database make one two seconds after a commit.)
    /// </summary>
    public int Load(string file, int batchSize, CancellationToken cancellationToken)
    {
        var writer = new IndexWriter(_environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        byte[] key = new byte[sizeof(int)];
        int count = 0;
        int first = checked((int)writer.LastEtag);
        foreach (string line in File.ReadLines(file))
        {
            SearchDocument document = SearchDocument.Parse(line);
            BinaryPrimitives.WriteInt32BigEndian(key, first + count);
            batch.BeginEntry(key);
            batch.AddText(0, Encoding.UTF8.GetBytes(document.Text));
            batch.AddText(1, Encoding.UTF8.GetBytes(document.Group));
            batch.AddLong(2, document.Number);
            batch.AddLong(3, document.Day);
            batch.EndEntry();
            if (++count % batchSize != 0)
                continue;
            writer.Commit(batch, first + count, cancellationToken);
            _environment.Checkpoint(cancellationToken);
            if (cancellationToken.IsCancellationRequested)
                return count;
        }

        if (count % batchSize != 0)
            writer.Commit(batch, first + count, cancellationToken);
        _environment.Checkpoint(cancellationToken);
        writer.Tidy(null, cancellationToken); // as the indexer does when it has nothing else to do
        return count;
    }

    /// <summary>Different words.</summary>
    public long CountWords()
    {
        using var searcher = new IndexSearcher(_environment);
        const int Page = 10_000;
        long count = 0;
        string? last = null;
        while (true)
        {
            IReadOnlyList<IndexTerm> terms = searcher.Terms("text", last, Page);
            count += terms.Count;
            if (terms.Count < Page)
                return count;
            last = terms[^1].Text;
        }
    }

    /// <summary>Bytes of a structure of the index.</summary>
    public long SizeOf(string structure)
    {
        using var searcher = new IndexSearcher(_environment);
        return searcher.MeasureStructures(CancellationToken.None)
            .Where(size => size.Structure == structure)
            .Sum(size => size.SizeBytes);
    }

    /// <summary>Ten of all by number, behind a position; and the position behind them.</summary>
    public (ReadOnlyMemory<byte> Position, double Microseconds) Page(ReadOnlyMemory<byte> after)
    {
        var request = new SearchRequest
        {
            Query = new MatchAllQuery(),
            Sort = [new SortKey("num", SortKind.Long)],
            Take = SearchQuestion.Top,
            After = after,
            WithPosition = true
        };
        long began = Stopwatch.GetTimestamp();
        using var searcher = new IndexSearcher(_environment);
        using SearchResults results = searcher.Search(request);
        return (results.Position, Stopwatch.GetElapsedTime(began).TotalMicroseconds);
    }

    public SearchAnswer?[] Ask(IReadOnlyList<SearchQuestion> questions, double milliseconds = 0) =>
        SearchTurn.Ask(questions, milliseconds, Ask);

    /// <summary>Asks one question, in a view opened for it.</summary>
    public SearchAnswer Ask(SearchQuestion question)
    {
        long[] ids;
        double[] scores = [];
        long total;
        bool isExact = true;
        long began = Stopwatch.GetTimestamp(); // the query is made of its words within the time, as Lucene's is
        SearchRequest request = question.Request;
        bool isFacet = question.Form == SearchForm.Facet;
        FacetRequest? facet = isFacet || question.Mix is { WithFacets: true }
            ? new FacetRequest(request.Query, [new FacetQuery { Field = "tr" }])
            : null;
        QueryOptions? options = question.Mix is { WithPlan: true } ? new QueryOptions { Plan = PlanDetail.Times } : null;
        using var searcher = new IndexSearcher(_environment, known: _schema);
        if (isFacet && facet is not null)
        {
            total = searcher.Facets(facet).TotalCount;
            ids = [];
        }
        else
        {
            using SearchResults results = searcher.Search(request, options);
            if (facet is not null && searcher.Facets(facet).TotalCount != results.TotalCount)
                throw new InvalidOperationException($"'{question.Line}': the groups have other hits than the search.");
            (total, isExact) = (results.TotalCount, results.IsTotalExact);
            ids = new long[results.Count];
            scores = new double[question.IsScored ? ids.Length : 0];
            for (int i = 0; results.MoveNext(); i++)
            {
                ids[i] = results.EntryId;
                if (question.IsScored)
                    scores[i] = results.Score;
            }
        }

        return new SearchAnswer(total, isExact, Stopwatch.GetElapsedTime(began).TotalMicroseconds, ids, scores);
    }

    /// <summary>What a question takes, in numbers that are the same on every run.</summary>
    public QueryCounters Count(SearchQuestion question)
    {
        using var searcher = new IndexSearcher(_environment);
        if (question.Form == SearchForm.Facet)
            return searcher.Facets(new FacetRequest(question.Request.Query, [new FacetQuery { Field = "tr" }])).Counters;
        using SearchResults results = searcher.Search(question.Request);
        return results.Counters;
    }

    public void Dispose() => _environment.Dispose();
}
