using Treepie.Indexing;
using Treepie.Indexing.Spatial;
using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>The documents that match a query, one at a time, from one snapshot. Not thread-safe.</summary>
internal abstract class ResultSource : IDisposable
{
    /// <summary>The number of matches before paging.</summary>
    public abstract long TotalCount { get; }

    /// <summary>Whether <see cref="TotalCount"/> is exact rather than a lower bound.</summary>
    public virtual bool IsTotalExact => true;

    /// <summary>The number of documents examined so far; 0 if an index finds them.</summary>
    public virtual long LookedAt => 0;

    /// <summary>
    /// Whether results are documents. If not, they are computed, like groups, and have no id or metadata of their own.
    /// </summary>
    public virtual bool HasDocuments => true;

    /// <summary>The current document. If <see cref="HasDocuments"/> is false, it has only a body.</summary>
    public abstract Document Current { get; }

    /// <summary>Its id in UTF-8; avoids reading the document if the source can.</summary>
    public virtual ReadOnlySpan<byte> Id => Current.Id;

    /// <summary>Its folded id, which is the same for all results of one document.</summary>
    public virtual ReadOnlySpan<byte> FoldedId => CollectionName.Fold(Id);

    /// <summary>The fields that the index stores for it; empty if there are none.</summary>
    public virtual StoredRecord Stored => default;

    /// <summary>Its score, or null if results are not scored.</summary>
    public virtual float? Score => null;

    /// <summary>Its location and distance if sorted by distance, otherwise null.</summary>
    public virtual PlaceOfHit? Place => null;

    /// <summary>The number of its index entry, or -1 if no index is used.</summary>
    public virtual long EntryId => -1;

    /// <summary>Its index entry by field; empty if no index is used.</summary>
    public virtual IReadOnlyList<IndexEntryField> Entry() => [];

    /// <summary>The position after the current result, to be gone on from; null if it is not wanted or known otherwise.</summary>
    public virtual byte[]? Position() => null;

    /// <summary>Advances to the next result. Returns false after the last one.</summary>
    public abstract bool MoveNext();

    /// <summary>Skips up to a number of results. Must be called before the first <see cref="MoveNext"/>.</summary>
    public virtual void Skip(long count, CancellationToken cancellationToken)
    {
        for (long skipped = 0; skipped < count && MoveNext(); skipped++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            ReleasePages();
        }
    }

    /// <summary>
    /// Invalidates everything read before, so that the source can release decrypted pages of its own. Those of the document
    /// snapshot are released by the caller.
    /// </summary>
    public virtual void ReleasePages()
    {
        // Most sources read only the document snapshot.
    }

    public abstract void Dispose();
}
