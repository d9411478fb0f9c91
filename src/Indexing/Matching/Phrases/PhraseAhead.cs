using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// Finds an exact phrase (slop 0) in the requested window and in some of the windows requested next, all together. Nearly
/// all of the time is spent waiting for memory scattered over the windows, so these waits overlap. Results are kept until
/// <see cref="Begin"/> is called again.
/// </summary>
/// <param name="context">The query.</param>
/// <param name="masks">Tests entries by position masks.</param>
/// <param name="finder">Tests entries that masks cannot decide, and windows in which very many entries have all
/// words.</param>
/// <param name="factors">Lengths of the field if scores are wanted.</param>
internal sealed class PhraseAhead(QueryContext context, PhraseMasks masks, PhraseFinder finder, LengthFactors? factors)
{
    private const int RoomEntries = PostingWindow.Size + PhraseMasks.ManyEntries;

    private readonly long[] _windows = new long[PhraseMasks.MaxWindows];
    private readonly bool[] _areOpen = new bool[PhraseMasks.MaxWindows];
    private readonly int[] _ends = new int[PhraseMasks.MaxWindows + 1];
    private readonly ushort[] _found = context.RentOffsets(RoomEntries);
    private readonly float[] _frequencies = context.RentNumbers(RoomEntries);
    private int _count;
    private int _current;
    private long _from;
    private long _end;
    private bool _isWhole;
    private bool _isNone;

    /// <summary>Whether another window can be added.</summary>
    public bool HasRoom => _count < PhraseMasks.MaxWindows && masks.EntryCount < PhraseMasks.ManyEntries;

    /// <summary>Tests the entries of the added windows.</summary>
    public PhraseMasks Masks => masks;

    /// <summary>The entries of the current window that contain the phrase.</summary>
    public ReadOnlySpan<ushort> Found => _isNone ? default : _found.AsSpan(_ends[_current].._ends[_current + 1]);

    /// <summary>The phrase's frequency in each of <see cref="Found"/>.</summary>
    public ReadOnlySpan<float> Frequencies => _isNone ? default : _frequencies.AsSpan(_ends[_current].._ends[_current + 1]);

    /// <summary>Discards the results and starts with other windows.</summary>
    /// <param name="from">The first window.</param>
    /// <param name="isWhole">Whether all entries that have all words will be tested.</param>
    public void Begin(long from, bool isWhole)
    {
        (_from, _end, _isWhole) = (from, from, isWhole); // Find extends the end
        _count = _current = 0;
        masks.Clear();
    }

    /// <summary>
    /// Adds a window after those added before. Its candidate entries, which have the leading words, must be in the room of
    /// <see cref="Masks"/>. If all entries are tested, windows not added have no matches.
    /// </summary>
    /// <param name="window">The window.</param>
    /// <param name="entries">Number of candidate entries.</param>
    public void Add(long window, int entries)
    {
        Debug.Assert(_count == masks.WindowCount && _count < PhraseMasks.MaxWindows, "each window has masks");
        Debug.Assert(_count == 0 || _windows[_count - 1] < window, "windows ascend");
        if (_isWhole && entries == 0)
            return;
        _windows[_count] = window;
        _areOpen[_count] = false;
        masks.Add(window, entries);
        _count++;
    }

    /// <summary>Adds a window, after those added before, that has to be tested separately.</summary>
    public void AddOpen(long window)
    {
        Debug.Assert(_count == masks.WindowCount && _count < PhraseMasks.MaxWindows, "each window has masks");
        Debug.Assert(_count == 0 || _windows[_count - 1] < window, "windows ascend");
        _windows[_count] = window;
        _areOpen[_count] = true;
        masks.Add(window, 0);
        _count++;
    }

    /// <summary>Finds the phrase in the windows added.</summary>
    /// <param name="end">The first window after those covered.</param>
    public void Find(long end)
    {
        Debug.Assert(end > _from && _count == masks.WindowCount, "the windows looked at end after their first");
        _end = end;
        context.Meter.Count.EntriesScanned += masks.EntryCount;
        masks.Run();
        int kept = 0;
        for (int i = 0; i < _count; i++)
        {
            ReadOnlySpan<ushort> left = masks.Entries(i);
            ReadOnlySpan<ulong> begins = masks.Begins(i);
            ReadOnlySpan<byte> areLong = masks.AreLong(i);
            for (int entry = 0; entry < left.Length; entry++)
            {
                _found[kept] = left[entry];
                _frequencies[kept] = areLong[entry] != 0
                    ? finder.FrequencyOf((_windows[i] << PostingWindow.SizeBits) + left[entry])
                    : BitOperations.PopCount(begins[entry]);
                kept += _frequencies[kept] > 0 ? 1 : 0;
            }

            _ends[i + 1] = kept;
            Debug.Assert(kept >= _ends[i] && kept <= _found.Length, "the found entries follow those of the windows before");
            if (kept > _ends[i])
                factors?.Prefetch(_windows[i], _found.AsSpan(_ends[i]..kept));
        }
    }

    /// <summary>Whether a window is in the range covered by the last <see cref="Find"/>.</summary>
    public bool Covers(long window, bool wantsAll) => (_isWhole || !wantsAll) && window >= _from && window < _end;

    /// <summary>
    /// Moves to a window if its matches are known. If only some entries were tested, succeeds only if the caller does not
    /// want all matches.
    /// </summary>
    public bool TryFind(long window, bool wantsAll)
    {
        if (!Covers(window, wantsAll))
            return false;
        while (_current > 0 && _windows[_current - 1] >= window)
            _current--;
        while (_current < _count && _windows[_current] < window)
            _current++;
        _isNone = _current == _count || _windows[_current] != window;
        return _isNone ? _isWhole : !_areOpen[_current];
    }

    /// <summary>
    /// Finds the first window at or after <paramref name="from"/> that may contain the phrase; false if that window is not
    /// covered.
    /// </summary>
    public bool TryNext(ref long from)
    {
        if (!Covers(from, wantsAll: true))
            return false;
        for (int i = _current < _count && _windows[_current] < from ? _current : 0; i < _count; i++)
        {
            if (_windows[i] < from || (_ends[i] == _ends[i + 1] && !_areOpen[i]))
                continue;
            from = _windows[i];
            return true;
        }

        from = _end; // if it exists, it has the leading words
        return true;
    }
}
