using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Treepie.Storage.Paging;

/// <summary>
/// Caches the frames of recently used pages: direct-mapped by page number, with 512 entries or as many more as large commands
/// turn out to need. Clearing it is one increment whatever its size, because every entry carries the generation it was stored
/// in; the table is cleared only when that number wraps, once in 65,535 resets.
/// </summary>
/// <remarks>
/// The writer uses it for pages that the running command may change in place: a hit avoids the page table, the frame's record
/// and the check whether an image is needed. Readers do not use it: the flat table alone is as fast for them.
/// </remarks>
internal sealed class PageLocator
{
    private const int FirstEntries = 512;
    private const int MaxEntries = 1 << 14; // 256 KiB: with more, the page table is no farther away

    /// <summary>
    /// Number of bits of an entry's stamp that hold the generation; the page number is above them, of which at most 48 bits
    /// are used.
    /// </summary>
    private const int GenerationBits = 16;

    private Entry[] _entries = new Entry[FirstEntries];
    private ushort _generation = 1;
    private int _stored;

    /// <summary>Returns the frame stored for a page since the last <see cref="Reset"/>, or 0 if there is none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public uint Get(long pageNumber, out bool isWritable)
    {
        Entry[] entries = _entries;
        ref readonly Entry entry = ref entries[(int)pageNumber & (entries.Length - 1)];
        if (entry.Stamp == StampOf(pageNumber))
        {
            isWritable = entry.IsWritable;
            return entry.Frame;
        }

        isWritable = false;
        return 0;
    }

    /// <summary>Stores the frame of a page, replacing any page that shares its entry.</summary>
    public void Set(long pageNumber, uint frame, bool isWritable)
    {
        Debug.Assert(frame != 0 && _generation != 0, "0 is no frame and no generation");
        Debug.Assert((ulong)pageNumber >> (64 - GenerationBits) == 0, "the number of a page has 48 bits");
        Entry[] entries = _entries;
        _stored++;
        entries[(int)pageNumber & (entries.Length - 1)] = new Entry(StampOf(pageNumber), frame, isWritable);
    }

    /// <summary>Removes one page.</summary>
    public void Remove(long pageNumber)
    {
        ref Entry entry = ref _entries[(int)pageNumber & (_entries.Length - 1)];
        if (entry.Stamp == StampOf(pageNumber))
            entry = default;
    }

    /// <summary>Removes all pages. If more were stored than there are entries, doubles the table.</summary>
    public void Reset()
    {
        if (_stored > _entries.Length && _entries.Length < MaxEntries)
            _entries = new Entry[2 * _entries.Length]; // empty entries have generation 0
        _stored = 0;
        if (++_generation == 0)
            Clear();
    }

    /// <summary>Removes all pages by clearing every entry, and restarts the generations.</summary>
    internal void Clear()
    {
        Array.Clear(_entries);
        _generation = 1; // empty entries have generation 0
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ulong StampOf(long pageNumber) => ((ulong)pageNumber << GenerationBits) | _generation;

    /// <summary>The stamp combines page number and generation, so that one comparison checks both.</summary>
    private readonly record struct Entry(ulong Stamp, uint Frame, bool IsWritable);
}
