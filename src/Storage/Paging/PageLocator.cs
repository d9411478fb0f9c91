namespace Treepie.Storage.Paging;

/// <summary>
/// Remembers where the pages lie that were asked for last: 512 entries, each page number has one place. Forgetting all of
/// them is one increment, because every entry carries the generation it was stored in; only when that number wraps, once
/// in 65,535 times, is the table cleared.
/// </summary>
/// <remarks>
/// The writer uses it for the pages that the running command may change in place: a hit saves the page table, the
/// frame's record and the question whether an image is needed. Readers do not: the flat table alone is as fast for them.
/// </remarks>
internal sealed class PageLocator
{
    private const int Entries = 512;

    private readonly Entry[] _entries = new Entry[Entries];
    private ushort _generation = 1;

    /// <summary>The frame stored for a page since the last <see cref="Reset"/>; 0 where there is none.</summary>
    public uint Get(long pageNumber, out bool isWritable)
    {
        ref Entry entry = ref _entries[(int)pageNumber & (Entries - 1)];
        if (entry.PageNumber == pageNumber && entry.Generation == _generation)
        {
            isWritable = entry.IsWritable;
            return entry.Frame;
        }

        isWritable = false;
        return 0;
    }

    /// <summary>Stores where a page lies, in place of another that shares its entry.</summary>
    public void Set(long pageNumber, uint frame, bool isWritable) =>
        _entries[(int)pageNumber & (Entries - 1)] = new Entry(pageNumber, frame, _generation, isWritable);

    /// <summary>Forgets one page.</summary>
    public void Remove(long pageNumber)
    {
        ref Entry entry = ref _entries[(int)pageNumber & (Entries - 1)];
        if (entry.PageNumber == pageNumber)
            entry = default;
    }

    /// <summary>Forgets all pages.</summary>
    public void Reset()
    {
        if (++_generation != 0)
            return;

        Array.Clear(_entries);
        _generation = 1;
    }

    private readonly record struct Entry(long PageNumber, uint Frame, ushort Generation, bool IsWritable);
}
