using Treepie.Indexing.Schema;
using Treepie.Storage;

namespace Treepie.Indexing;

/// <summary>
/// The writing door of an index: puts and removes entries, a batch at a time, in one storage transaction that also records
/// how far the index is. One thread at a time.
/// </summary>
public sealed class IndexWriter
{
    /// <summary>Opens the index that lives in <paramref name="environment"/>, creating it with <paramref name="schema"/> if empty.</summary>
    /// <exception cref="IndexSchemaException">The index exists with another schema.</exception>
    public IndexWriter(StorageEnvironment environment, IndexSchema schema) => throw new NotImplementedException();

    /// <summary>The fields of this index.</summary>
    public IndexSchema Schema => throw new NotImplementedException();

    /// <summary>The etag recorded by the last batch, 0 for a new index.</summary>
    public long LastEtag => throw new NotImplementedException();

    /// <summary>An empty batch to fill; reused after <see cref="Commit"/>.</summary>
    public IndexBatch BeginBatch() => throw new NotImplementedException();

    /// <summary>Applies the batch and records <paramref name="etag"/>, all or nothing. Afterwards the batch is empty.</summary>
    public void Commit(IndexBatch batch, long etag, CancellationToken cancellationToken = default) => throw new NotImplementedException();
}
