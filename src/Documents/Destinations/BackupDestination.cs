namespace Treepie.Destinations;

/// <summary>
/// Front door of the room: a place that keeps backups as objects under names such as
/// <c>shop-2026-01-31T02-00-00Z/full-….backup</c>. It promises that an object is there whole or not at all. Costs what its kind
/// costs; memory is bounded and each kind says by what. Thread-safe; one upload at a time under a name.
/// </summary>
public abstract class BackupDestination : IDisposable
{
    /// <summary>Longest name of an object in characters.</summary>
    public const int MaxNameLength = 900;

    /// <summary>Where it is, as it may be shown to anybody: without keys.</summary>
    public abstract string Address { get; }

    /// <summary>Whether what is written here lands on a disk of this machine.</summary>
    public abstract bool IsLocal { get; }

    /// <summary>
    /// Finds out before long work whether objects can be listed and written, and whether there is room, where that can be known.
    /// Leaves nothing behind.
    /// </summary>
    /// <param name="expectedBytes">How much is about to be written; 0 where nobody knows.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <exception cref="DestinationException">Says what is in the way.</exception>
    public abstract Task ProbeAsync(long expectedBytes, CancellationToken cancellationToken = default);

    /// <summary>Begins an object, which nobody sees before it is committed.</summary>
    /// <exception cref="DestinationException">It cannot be begun, or one of that name is there.</exception>
    public abstract Task<BackupUpload> CreateAsync(string name, CancellationToken cancellationToken = default);

    /// <summary>Objects whose names begin so, in the order of their names, at most a hundred thousand.</summary>
    public abstract Task<IReadOnlyList<BackupObject>> ListAsync(string prefix, CancellationToken cancellationToken = default);

    /// <summary>Opens an object for reading from its beginning to its end; to be disposed.</summary>
    /// <exception cref="DestinationException">It is not there, or cannot be read.</exception>
    public abstract Task<Stream> OpenAsync(string name, CancellationToken cancellationToken = default);

    /// <summary>Deletes an object; one that is not there is no error.</summary>
    public abstract Task DeleteAsync(string name, CancellationToken cancellationToken = default);

    /// <summary>
    /// Deletes what uploads of a killed process left below a prefix, as far as it can be told from work that goes on: a file
    /// that nobody holds open, an upload to a bucket of which no part has arrived for an hour.
    /// </summary>
    public virtual Task CleanAsync(string prefix, CancellationToken cancellationToken = default) => Task.CompletedTask;

    /// <inheritdoc/>
    public void Dispose()
    {
        Dispose(disposing: true);
        GC.SuppressFinalize(this);
    }

    /// <inheritdoc cref="Dispose()"/>
    protected virtual void Dispose(bool disposing)
    {
    }

    /// <summary>
    /// Refuses names that mean something else in some place: parts that are empty, begin with a dot, or hold other characters
    /// than letters, digits and <c>._-+@ ()</c>.
    /// </summary>
    /// <exception cref="ArgumentException">It is such a name.</exception>
    protected static void CheckName(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        bool isValid = name.Length <= MaxNameLength
            && Array.TrueForAll(
                name.Split('/'),
                static part => part.Length > 0
                    && part[0] != '.'
                    && part.All(static c => char.IsLetterOrDigit(c) || "._-+@ ()".Contains(c, StringComparison.Ordinal)));
        if (!isValid)
            throw new ArgumentException(
                $"'{name}' is no name for an object in every place: parts between slashes must be there, not begin with a dot, "
                    + $"and hold letters, digits and ._-+@ () only.",
                nameof(name));
    }
}

/// <summary>An object of a place for backups.</summary>
/// <param name="Name">Its name, with slashes.</param>
/// <param name="LengthBytes">Its length.</param>
/// <param name="ModifiedAt">When it was written (UTC).</param>
public sealed record BackupObject(string Name, long LengthBytes, DateTime ModifiedAt);

/// <summary>
/// An object that is being written: what is disposed without <see cref="CommitAsync"/> was never there. One caller at a time.
/// </summary>
public abstract class BackupUpload : IAsyncDisposable
{
    /// <summary>Writes the next bytes; they are copied, or gone, when this completes.</summary>
    /// <exception cref="DestinationException">They cannot be written, also after trying again.</exception>
    public abstract ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken = default);

    /// <summary>Makes the object: when this completes it is durable and seen by everybody.</summary>
    public abstract Task CommitAsync(CancellationToken cancellationToken = default);

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await DisposeCoreAsync().ConfigureAwait(false);
        GC.SuppressFinalize(this);
    }

    /// <summary>Removes what is not committed, and never throws for it.</summary>
    protected abstract ValueTask DisposeCoreAsync();
}
