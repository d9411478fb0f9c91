using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// A file without a name that stands behind memory beyond a budget, in parts of equal size. The system keeps what of it there is
/// memory for, writes out what there is
/// not, and drops all of it with the last handle, however the process ends. Not thread-safe.
/// </summary>
/// <remarks>
/// Blocks are allocated before a part is mapped, so that a full disk is an error here and not the end of the process where the
/// part is touched. Parts in use stay where
/// they are; the lowest free one is taken first, and the file is cut behind the last one in use.
/// </remarks>
internal sealed class SpillFile(DiskFile file, long partBytes) : IDisposable
{
    private readonly SortedSet<int> _free = [];
    private int _parts;

    /// <summary>Bytes of the file.</summary>
    public long LengthBytes => _parts * partBytes;

    /// <summary>Puts a part of the file behind a part of an address range; returns its number, or -1 where the disk has no room
    /// or the system refuses.</summary>
    public int TryMap(AddressRange range, long offset)
    {
        int part = _free.Count > 0 ? _free.Min : _parts;
        try
        {
            if (part == _parts)
                file.Allocate((part + 1) * partBytes);
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            return -1;
        }

        if (!range.TryMapShared(file.Handle, part * partBytes, offset, partBytes))
        {
            Cut();
            return -1;
        }

        _free.Remove(part);
        _parts = Math.Max(_parts, part + 1);
        return part;
    }

    /// <summary>Puts plain memory, all zero, behind the addresses again and gives the part back; false, with nothing changed,
    /// where the system refuses.</summary>
    public bool TryUnmap(AddressRange range, long offset, int part)
    {
        if (!range.TryMapFresh(offset, partBytes))
            return false;

        _free.Add(part);
        Cut();
        return true;
    }

    public void Dispose() => file.Dispose();

    private void Cut()
    {
        while (_free.Remove(_parts - 1))
            _parts--;
        try
        {
            file.Truncate(_parts * partBytes);
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            // It stays as long as it was, until it is dropped as a whole.
        }
    }
}
