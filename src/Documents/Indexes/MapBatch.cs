using Treepie.Indexes.Definitions;

namespace Treepie.Indexes;

/// <summary>
/// What changes of documents are mapped into, in order; a later one of a document replaces an earlier one. One thread at a time.
/// </summary>
internal abstract class MapBatch
{
    /// <summary>Changes.</summary>
    public abstract int Count { get; }

    /// <summary>Approximate bytes of memory and of work that it stands for: at a budget it is committed.</summary>
    public abstract long SizeBytes { get; }

    /// <summary>
    /// Fields that the documents have named and the index has not: while there are any, the batch is not to be committed, but
    /// filled again when the index has them.
    /// </summary>
    public virtual IReadOnlyCollection<DynamicField> NewFields => [];

    /// <summary>
    /// Adds the change that a feed stands on. False if that was too much for one batch: the next goes on with the same change.
    /// </summary>
    public abstract bool Add(MappedChanges feed);

    /// <summary>
    /// Adds what another batch of the same index has, exactly as if it had been added here. The other stays as it is.
    /// </summary>
    public abstract void Append(MapBatch other);

    /// <summary>Forgets what it holds.</summary>
    public abstract void Clear();

    /// <summary>
    /// Writes it, with how far the index is then. Afterwards it is empty. Returns false, with nothing written, if only now
    /// <see cref="NewFields"/> were found.
    /// </summary>
    public abstract bool TryCommit(long etag, CancellationToken cancellationToken);
}
