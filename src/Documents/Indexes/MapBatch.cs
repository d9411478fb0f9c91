using Treepie.Indexes.Definitions;

namespace Treepie.Indexes;

/// <summary>
/// A batch into which changes of documents are mapped, in order; a later change of a document replaces an earlier one. Not
/// thread-safe.
/// </summary>
internal abstract class MapBatch
{
    /// <summary>The number of changes.</summary>
    public abstract int Count { get; }

    /// <summary>
    /// The approximate cost of the batch in bytes of memory and work; it is committed when this reaches a limit.
    /// </summary>
    public abstract long SizeBytes { get; }

    /// <summary>
    /// Whether it has come further within a change that concerns more documents than fit into a batch. It must then be
    /// committed even if it has no changes, as the next batch resumes there.
    /// </summary>
    public virtual bool IsWithinChange => false;

    /// <summary>
    /// Fields that documents have named and the index does not have. While there are any, the batch must not be committed,
    /// but filled again after they have been added to the index.
    /// </summary>
    public virtual IReadOnlyCollection<DynamicField> NewFields => [];

    /// <summary>
    /// Adds the current change of a feed. Returns false if it is too much for one batch: the next batch resumes with the
    /// same change.
    /// </summary>
    public abstract bool Add(MappedChanges feed);

    /// <summary>
    /// Appends the contents of another batch of the same index, with the same result as adding its changes here. The other
    /// is unchanged.
    /// </summary>
    public abstract void Append(MapBatch other);

    /// <summary>Clears the batch.</summary>
    public abstract void Clear();

    /// <summary>
    /// Commits the batch with the etag that the index has then reached, and clears it. Returns false, with nothing written,
    /// if <see cref="NewFields"/> were found only now.
    /// </summary>
    public abstract bool TryCommit(long etag, CancellationToken cancellationToken);
}
