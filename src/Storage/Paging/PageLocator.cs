using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Treepie.Storage.Paging;

/// <summary>
/// Remembers where the pages lie that were asked for last: each page number has one place, in 512 entries or as many more as a
/// large command is seen to need. Forgetting all of them is one increment, however many there are, because every entry carries
/// the generation it was stored in; only when that number wraps, once in 65,535 times, is the table cleared.
/// </summary>
/// <remarks>
/// The writer uses it for the pages that the running command may change in place: a hit saves the page table, the
/// frame's record and the question whether an image is needed. Readers do not: the flat table alone is as fast for them.
/// </remarks>
internal sealed class PageLocator
{
    private const int FirstEntries = 512;
    private const int MaxEntries = 1 << 14; // 256 KiB: with more, the table behind is as near

    /// <summary>
    /// Bits of an entry's stamp that are the generation; above them is the page number, of which 48 bits are used anywhere.
    /// </summary>
    private const int GenerationBits = 16;

    private Entry[] _entries = new Entry[FirstEntries];
    private ushort _generation = 1;
    private int _stored;

    /// <summary>The frame stored for a page since the last <see cref="Reset"/>; 0 where there is none.</summary>
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

    /// <summary>Stores where a page lies, in place of another that shares its entry.</summary>
    public void Set(long pageNumber, uint frame, bool isWritable)
    {
        Debug.Assert(frame != 0 && _generation != 0, "0 is no frame and no generation");
        Entry[] entries = _entries;
        _stored++;
        entries[(int)pageNumber & (entries.Length - 1)] = new Entry(StampOf(pageNumber), frame, isWritable);
    }

    /// <summary>Forgets one page.</summary>
    public void Remove(long pageNumber)
    {
        ref Entry entry = ref _entries[(int)pageNumber & (_entries.Length - 1)];
        if (entry.Stamp == StampOf(pageNumber))
            entry = default;
    }

    /// <summary>Forgets all pages. Where more were stored than there are entries, there are twice as many from now on.</summary>
    public void Reset()
    {
        if (_stored > _entries.Length && _entries.Length < MaxEntries)
            _entries = new Entry[2 * _entries.Length]; // empty entries are of generation 0
        _stored = 0;
        if (++_generation == 0)
            Clear();
    }

    /// <summary>Forgets all pages by writing every entry; generations begin again.</summary>
    internal void Clear()
    {
        Array.Clear(_entries);
        _generation = 1; // an empty entry's is 0
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ulong StampOf(long pageNumber) => ((ulong)pageNumber << GenerationBits) | _generation;

    /// <summary>Page number and generation in one number, so that one comparison answers for both.</summary>
    private readonly record struct Entry(ulong Stamp, uint Frame, bool IsWritable);
}
