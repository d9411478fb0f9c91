using System.Diagnostics.CodeAnalysis;
using Treepie.Storage;

namespace Treepie.Writes;

/// <summary>
/// Coordinates imports into a database that is in use. Contents of attachments are imported before the attachments, so no content
/// is dropped for having no attachment while an import is in progress; the last import to end drops those without. Thread-safe.
/// </summary>
[SuppressMessage(
    "Design", "CA1001", Justification = "The semaphore's handle is never asked for, so there is nothing to dispose.")]
internal sealed class ImportGate(StorageEnvironment environment)
{
    /// <summary>Held while an import starts, and while contents are dropped.</summary>
    private readonly SemaphoreSlim _changing = new(1, 1);
    private int _imports;

    /// <summary>
    /// Whether contents without attachments are kept. Read inside write transactions, which then see the contents written
    /// earlier.
    /// </summary>
    public bool KeepsUnused => Volatile.Read(ref _imports) > 0;

    /// <summary>Starts an import; <see cref="LeaveAsync"/> ends it.</summary>
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
            // From here on, writers drop contents that they leave unused; contents left by imports are dropped below.
            Volatile.Write(ref _imports, _imports - 1);
            if (_imports == 0)
                await AttachmentUpload.SweepAsync(environment, CancellationToken.None).ConfigureAwait(false);
        }
        catch (ObjectDisposedException)
        {
            // the database was closed; the next import drops them
        }
        finally
        {
            _changing.Release();
        }
    }
}
