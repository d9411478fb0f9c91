using Treepie.Indexing;
using Treepie.Indexing.Spatial;
using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>Documents that answer a query, one at a time, of one snapshot. Not thread-safe.</summary>
internal abstract class ResultSource : IDisposable
{
    /// <summary>Matches before paging.</summary>
    public abstract long TotalCount { get; }

    /// <summary>Whether that is their number, and not only the least it is.</summary>
    public virtual bool IsTotalExact => true;

    /// <summary>Documents looked at so far; 0 where an index says which they are.</summary>
    public virtual long LookedAt => 0;

    /// <summary>
    /// Whether results are documents, not groups of them: what is computed has no id and no metadata of its own.
    /// </summary>
    public virtual bool HasDocuments => true;

    /// <summary>The document it stands on; where it has none, an object with nothing but a body.</summary>
    public abstract Document Current { get; }

    /// <summary>Its id, UTF-8; without reading it, where the source can say it.</summary>
    public virtual ReadOnlySpan<byte> Id => Current.Id;

    /// <summary>What the index keeps of it; empty where nothing is.</summary>
    public virtual StoredRecord Stored => default;

    /// <summary>Score of the document it stands on; null where nothing is scored.</summary>
    public virtual float? Score => null;

    /// <summary>Where the document it stands on is, for an order by distance; null elsewhere.</summary>
    public virtual PlaceOfHit? Place => null;

    /// <summary>Number of the entry it stands on in its index; -1 where no index answers.</summary>
    public virtual long EntryId => -1;

    /// <summary>What the index has of the entry it stands on, by field; nothing where no index answers.</summary>
    public virtual IReadOnlyList<IndexEntryField> Entry() => [];

    /// <summary>Goes to the next; false after the last.</summary>
    public abstract bool MoveNext();

    /// <summary>Leaves so many behind before the first <see cref="MoveNext"/>, as far as there are so many.</summary>
    public virtual void Skip(long count, CancellationToken cancellationToken)
    {
        for (long skipped = 0; skipped < count && MoveNext(); skipped++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            ReleasePages();
        }
    }

    /// <summary>
    /// Nothing read before is looked at any more: what decrypted pages the source holds, beside those of the documents' snapshot,
    /// may go.
    /// </summary>
    public virtual void ReleasePages()
    {
        // Most sources read the documents' snapshot alone.
    }

    public abstract void Dispose();
}
