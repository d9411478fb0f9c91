using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>A file seen as memory at addresses that never change while it grows.</summary>
internal interface IFileMap : IDisposable
{
    /// <summary>The addresses: offset in the file = offset in the range.</summary>
    AddressRange Range { get; }

    /// <summary>
    /// Whether bytes written to the file show in the range by themselves; otherwise they show after <see cref="Load"/>.
    /// </summary>
    bool SeesWrites { get; }

    /// <summary>Makes addresses usable up to a length, which the file has by now.</summary>
    void Grow(long lengthBytes);

    /// <summary>
    /// Says that a part, which the file has by now, is going to be read soon. Waits for nothing, and may do nothing.
    /// </summary>
    void Announce(long offset, long lengthBytes)
    {
    }

    /// <summary>Whether <see cref="TryFindResident"/> works here.</summary>
    bool TellsResident => false;

    /// <summary>
    /// Says of each page of a part, which begins at a multiple of 2 MiB, whether it is in memory (1) or not (0); false where
    /// nobody knows.
    /// </summary>
    bool TryFindResident(long offset, Span<byte> resident) => false;

    /// <summary>Brings a part into memory; false where the disk could not deliver it.</summary>
    bool Load(long offset, long lengthBytes);
}
