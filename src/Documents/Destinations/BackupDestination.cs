namespace Treepie.Destinations;

/// <summary>
/// A destination that stores backups as objects under names such as <c>shop-2026-01-31T02-00-00Z/full-….backup</c>. An object is
/// visible only when it is complete. Memory use is bounded; the derived classes document their limits. Thread-safe, except that a
/// name may have only one upload at a time.
/// </summary>
public abstract class BackupDestination : IDisposable
{
    /// <summary>The maximum length of an object name in characters.</summary>
    public const int MaxNameLength = 900;

    /// <summary>The address of the destination, without keys, for display.</summary>
    public abstract string Address { get; }

    /// <summary>Whether the destination is on a disk of this machine.</summary>
    public abstract bool IsLocal { get; }

    /// <summary>
    /// Checks, before a long operation, whether objects can be listed and written and, if it can be determined, whether there is
    /// enough space. Leaves nothing behind.
    /// </summary>
    /// <param name="expectedBytes">The number of bytes about to be written; 0 if unknown.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <exception cref="DestinationException">The destination cannot be used; the message says why.</exception>
    public abstract Task ProbeAsync(long expectedBytes, CancellationToken cancellationToken = default);

    /// <summary>Starts writing an object, which becomes visible when it is committed.</summary>
    /// <exception cref="DestinationException">The object cannot be created or already exists.</exception>
    public abstract Task<BackupUpload> CreateAsync(string name, CancellationToken cancellationToken = default);

    /// <summary>Lists the objects whose names start with a prefix, sorted by name; at most 100,000.</summary>
    public abstract Task<IReadOnlyList<BackupObject>> ListAsync(string prefix, CancellationToken cancellationToken = default);

    /// <summary>Opens an object for sequential reading. The stream must be disposed.</summary>
    /// <exception cref="DestinationException">The object does not exist or cannot be read.</exception>
    public abstract Task<Stream> OpenAsync(string name, CancellationToken cancellationToken = default);

    /// <summary>Deletes an object, which need not exist.</summary>
    public abstract Task DeleteAsync(string name, CancellationToken cancellationToken = default);

    /// <summary>
    /// Deletes the remains of uploads of killed processes below a prefix, as far as they can be distinguished from active
    /// uploads: files that nobody has open, or uploads to a bucket that have received no part for an hour.
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
    /// Rejects names that are not portable: with parts that are empty, start with a dot, or contain characters other than
    /// letters, digits and <c>._-+@ ()</c>.
    /// </summary>
    /// <exception cref="ArgumentException">The name is not portable.</exception>
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
                $"'{name}' is not a valid name at every destination: parts between slashes must not be empty or begin with a "
                    + $"dot, and may contain only letters, digits and ._-+@ ().",
                nameof(name));
    }
}

/// <summary>An object at a backup destination.</summary>
/// <param name="Name">The name, with slashes.</param>
/// <param name="LengthBytes">The size in bytes.</param>
/// <param name="ModifiedAt">When it was written (UTC).</param>
public sealed record BackupObject(string Name, long LengthBytes, DateTime ModifiedAt);

/// <summary>
/// An upload of an object. Disposing it without calling <see cref="CommitAsync"/> discards the object. Not thread-safe.
/// </summary>
public abstract class BackupUpload : IAsyncDisposable
{
    /// <summary>Writes the next bytes; the buffer can be reused when the method completes.</summary>
    /// <exception cref="DestinationException">The bytes cannot be written, even after retries.</exception>
    public abstract ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken = default);

    /// <summary>Commits the object; when the method completes, it is durable and visible.</summary>
    public abstract Task CommitAsync(CancellationToken cancellationToken = default);

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await DisposeCoreAsync().ConfigureAwait(false);
        GC.SuppressFinalize(this);
    }

    /// <summary>Removes the object unless it is committed; must not throw.</summary>
    protected abstract ValueTask DisposeCoreAsync();
}
