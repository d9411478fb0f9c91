using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Vectors;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing;

/// <summary>
/// Changes that an index does not contain yet, as a small in-memory index of the same structure:
/// <see cref="IndexSearcher.Search(Queries.SearchRequest, IndexTail, Queries.QueryOptions, CancellationToken)"/> searches both as
/// if they were one. Belongs to the view for which it was created. Not thread-safe; must be disposed.
/// </summary>
/// <remarks>
/// Guarantees: hits, order, totals and scores are those of an index that contains the changes. Costs: about a millisecond for
/// opening, indexing the changes, and memory of a few times the size of their terms.
/// </remarks>
public sealed class IndexTail : IDisposable
{
    private readonly StorageEnvironment _environment;
    private readonly IndexWriter _writer;
    private readonly AnalyzerSet _analyzers;
    private readonly IndexView _main;
    private IndexSearcher? _searcher;
    private TailView? _filled;

    /// <summary>Opens an empty tail for a view.</summary>
    /// <param name="index">The view.</param>
    /// <param name="analyzerSet">The analyzers with which it was written. Null: the built-in ones.</param>
    /// <param name="key">If given, the tail is encrypted in memory, as the index is on disk.</param>
    public IndexTail(IndexSearcher index, AnalyzerSet? analyzerSet = null, EncryptionKey? key = null)
    {
        ArgumentNullException.ThrowIfNull(index);
        _main = index.View;
        _analyzers = analyzerSet ?? AnalyzerSet.BuiltIn;
        _environment = MemoryEnvironment.Open(key);
        try
        {
            // Entry ids continue after those of the index, as if the changes were added to it, and vectors have the same
            // number of dimensions.
            _environment.Write(transaction =>
            {
                for (int field = 0; field < index.Schema.Fields.Count; field++)
                {
                    if (VectorState.Read(_main.Tree(TreeNames.Links(field))) is { Dimensions: > 0 and var dimensions })
                        new VectorState { Dimensions = dimensions }.Write(transaction.GetOrCreateTree(TreeNames.Links(field)));
                }

                return true;
            });
            _writer = new IndexWriter(_environment, WithoutGraphs(index.Schema), _analyzers);
            _environment.Write(transaction =>
            {
                Tree tree = transaction.GetOrCreateTree(TreeNames.Index);
                IndexState state = IndexState.Read(tree);
                state.NextEntryId = _main.State.NextEntryId;
                state.Write(tree);
                return true;
            });
        }
        catch
        {
            _environment.Dispose();
            throw;
        }
    }

    /// <summary>The view that searches use.</summary>
    internal TailView View => _filled ?? throw new InvalidOperationException("The tail was not filled: call Fill first.");

    /// <summary>The view that searches over a view of the index use.</summary>
    /// <exception cref="ArgumentException">The tail belongs to another view.</exception>
    internal TailView ViewOver(IndexView main) => main == _main
        ? View
        : throw new ArgumentException(
            "The tail belongs to another searcher: create one with new IndexTail for each searcher it is used with.");

    /// <summary>Creates an empty batch for the changes.</summary>
    public IndexBatch BeginBatch() => _writer.BeginBatch();

    /// <summary>Indexes the changes. Must be called once, with all of them.</summary>
    public void Fill(IndexBatch batch, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(batch);
        if (_searcher is not null)
            throw new InvalidOperationException("The tail was filled already.");

        var gone = new List<long>();
        if (_main.Dictionary(TreeNames.Keys) is { } keys)
            for (int ordinal = 0; ordinal < batch.Keys.Count; ordinal++)
                if (keys.TryGet(batch.Keys[ordinal], out ReadOnlySpan<byte> id))
                    gone.Add(EntryKey.Read(id));
        _writer.Commit(batch, 0, cancellationToken);
        _searcher = new IndexSearcher(_environment, _analyzers);
        _filled = new TailView(_searcher.View, [.. gone.Order()]);
    }

    /// <summary>Minimizes the vector graphs: the vectors of the changes are compared one by one, without a graph.</summary>
    private static IndexSchema WithoutGraphs(IndexSchema schema) =>
        new(
            [.. schema.Fields.Select(
                field => field.Analysis == FieldAnalysis.Vector
                    ? field with
                    {
                        Vector = (field.Vector ?? new VectorFieldOptions()) with { Edges = 4, IndexingCandidates = 8 }
                    }
                    : field)]);

    /// <inheritdoc/>
    public void Dispose()
    {
        _searcher?.Dispose();
        _environment.Dispose();
    }
}
