using System.Diagnostics.CodeAnalysis;
using Treepie.Storage;

namespace Treepie.Writes;

/// <summary>
/// Imports into one database that is in use. Contents of attachments come before what has them, so as long as an import is under
/// way no content is dropped for having no attachment; the last one to end drops those that have none. Thread-safe.
/// </summary>
[SuppressMessage(
    "Design", "CA1001", Justification = "The semaphore's handle is never asked for, so there is nothing to dispose.")]
internal sealed class ImportGate(StorageEnvironment environment)
{
    /// <summary>Held where an import begins, and while contents are dropped.</summary>
    private readonly SemaphoreSlim _changing = new(1, 1);
    private int _imports;

    /// <summary>
    /// Whether contents that no attachment has are kept. Asked inside write transactions: contents that were put before are seen
    /// there with this.
    /// </summary>
    public bool KeepsUnused => Volatile.Read(ref _imports) > 0;

    /// <summary>Begins an import; <see cref="LeaveAsync"/> ends it.</summary>
    public async Task EnterAsync(CancellationToken cancellationToken)
    {
        await _changing.WaitAsync(cancellationToken).ConfigureAwait(false);
        Volatile.Write(ref _imports, _imports + 1);
        _changing.Release();
    }

    /// <summary>Ends an import.</summary>
    public async Task LeaveAsync()
    {
        await _changing.WaitAsync(CancellationToken.None).ConfigureAwait(false);
        try
        {
            // Writers that run from here on drop what they leave unused; what others left is dropped below.
            Volatile.Write(ref _imports, _imports - 1);
            if (_imports == 0)
                await AttachmentUpload.SweepAsync(environment, CancellationToken.None).ConfigureAwait(false);
        }
        catch (ObjectDisposedException)
        {
            // The database closed. The next import drops them.
        }
        finally
        {
            _changing.Release();
        }
    }
}
