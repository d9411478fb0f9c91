using Treepie.Storage.Files;

namespace Treepie.Storage;

/// <summary>In-memory environments for temporary data.</summary>
public static class MemoryEnvironment
{
    /// <summary>The maximum size of the data file: half of what an array can hold. It is address space, not memory.</summary>
    private const long MaxBytes = 1L << 30;

    /// <summary>
    /// Opens an empty environment that starts no threads of its own and is discarded when it is disposed. Nothing is durable. Any
    /// number of threads may use it; a command that waits for another write of it gets an
    /// <see cref="InvalidOperationException"/>, and that write does not run.
    /// </summary>
    /// <param name="key">If given, pages are encrypted in memory as they would be on disk.</param>
    public static StorageEnvironment Open(EncryptionKey? key = null) => StorageEnvironment.Open(
        World.OfMemory(),
        new StorageOptions
        {
            Durability = Durability.Relaxed,
            EncryptionKey = key,
            MaxDataFileBytes = MaxBytes,
            ScratchReserveBytes = MaxBytes
        });
}
