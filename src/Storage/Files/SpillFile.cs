using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// An unnamed file that backs memory beyond a budget, in parts of equal size. The system keeps as much of it in memory as
/// fits, writes out the rest, and drops the file with its last handle, however the process ends. Not thread-safe.
/// </summary>
/// <remarks>
/// Blocks are allocated before a part is mapped, so that a full disk causes an error here and does not end the process when
/// the part is accessed. Parts in use are not moved; the lowest free part is used first, and the file is truncated after the
/// last part in use.
/// </remarks>
internal sealed class SpillFile(DiskFile file, long partBytes) : IDisposable
{
    private readonly SortedSet<int> _free = [];
    private readonly Lock _errorLock = new();
    private int _parts;
    private int _error;

    /// <summary>The size of the file in bytes.</summary>
    public long LengthBytes => _parts * partBytes;

    /// <summary>
    /// Maps a part of the file at an offset of an address range. Returns its number, or -1 if the disk is full or the system
    /// refuses.
    /// </summary>
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

        Debug.Assert(part <= _parts, "parts follow each other without a gap");
        _free.Remove(part);
        _parts = Math.Max(_parts, part + 1);
        return part;
    }

    /// <summary>
    /// Maps zeroed memory at the addresses again and frees the part. Returns false and changes nothing if the system refuses.
    /// </summary>
    public bool TryUnmap(AddressRange range, long offset, int part)
    {
        if (!range.TryMapFresh(offset, partBytes))
            return false;

        Debug.Assert(part >= 0 && part < _parts && !_free.Contains(part), "a part is given back once");
        _free.Add(part);
        Cut();
        return true;
    }

    /// <summary>
    /// Throws if the operating system has ever failed to write back pages of the file. It may evict such a page and then read
    /// something else. It reports the error before it evicts a page, so everything read before a call that does not throw was
    /// correct. Thread-safe, unlike the other members.
    /// </summary>
    /// <exception cref="StorageException">Pages were not written.</exception>
    public void ThrowIfNotWrittenOut()
    {
        lock (_errorLock)
        {
            if (_error == 0)
                _error = file.FindWriteError(); // which tells each error to one caller only
        }

        if (_error == 0)
            return;

        string message = Marshal.GetPInvokeErrorMessage(_error);
        throw new StorageException(
            $"The system could not write out pages of transactions that are not in the data file yet: '{file.Name}' (error "
                + $"{_error}: {message}). What is in memory may be wrong, and the journal has it all: close the environment and "
                + $"open it again.",
            new IOException(message, _error));
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
            // It keeps its length until it is dropped.
        }
    }
}
