using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>A view of a file as memory, at addresses that do not change while it grows.</summary>
internal interface IFileMap : IDisposable
{
    /// <summary>The addresses: an offset in the range is the same offset in the file.</summary>
    AddressRange Range { get; }

    /// <summary>Whether writes to the file are visible in the range at once; otherwise only after <see cref="Load"/>.</summary>
    bool SeesWrites { get; }

    /// <summary>Makes the range usable up to a length that the file now has.</summary>
    void Grow(long lengthBytes);

    /// <summary>Hints that a part of the file will be read soon. Does not wait and may do nothing.</summary>
    void Announce(long offset, long lengthBytes)
    {
    }

    /// <summary>Whether <see cref="TryFindResident"/> is supported.</summary>
    bool TellsResident => false;

    /// <summary>
    /// Returns for each page of a part, which starts at a multiple of 2 MiB, whether it is in memory (1) or not (0). Returns
    /// false if unknown.
    /// </summary>
    bool TryFindResident(long offset, Span<byte> resident) => false;

    /// <summary>Loads a part into memory. Returns false if the disk could not read it.</summary>
    bool Load(long offset, long lengthBytes);
}
