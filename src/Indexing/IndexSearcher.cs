using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;

namespace Treepie.Indexing;

/// <summary>
/// The reading door of an index: one unchanging view of it. Opening costs a read transaction and nothing else: no load, no
/// warm-up. One thread at a time; open as many as wanted.
/// </summary>
public sealed class IndexSearcher : IDisposable
{
    /// <summary>Opens the index in <paramref name="environment"/> as it is now; an environment without one is an empty index.</summary>
    public IndexSearcher(StorageEnvironment environment) => throw new NotImplementedException();

    /// <summary>The fields of this index.</summary>
    public IndexSchema Schema => throw new NotImplementedException();

    /// <summary>Entries in the index.</summary>
    public long EntryCount => throw new NotImplementedException();

    /// <summary>The etag up to which this view is complete.</summary>
    public long LastEtag => throw new NotImplementedException();

    /// <summary>Runs a query. The results read from this view: they end with it.</summary>
    /// <exception cref="UnknownFieldException">A field of the query or of the sort is not in the schema.</exception>
    public SearchResults Search(SearchRequest request, CancellationToken cancellationToken = default) => throw new NotImplementedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotImplementedException();
}
