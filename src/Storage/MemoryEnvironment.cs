using Treepie.Storage.Files;

namespace Treepie.Storage;

/// <summary>Environments that lie in memory alone, for what lives as long as one question.</summary>
public static class MemoryEnvironment
{
    /// <summary>Largest data file: what an array holds, half of it. It is address space, not memory.</summary>
    private const long MaxBytes = 1L << 30;

    /// <summary>
    /// Opens an empty environment that works on no other thread and is gone when it is disposed. Nothing of it is durable.
    /// </summary>
    /// <param name="key">Given, its pages are encrypted in memory as they would be on the disk.</param>
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
