using System.Numerics;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// Finds where a phrase stands in the window that is asked for and in some that will be asked for next, all together: nearly all
/// of the time goes into waiting for memory that lies somewhere else for each window, and so these waits overlap. What was found
/// is kept until others are looked at. Words stand at fixed places to each other here.
/// </summary>
/// <param name="context">The query.</param>
/// <param name="masks">Tests entries by masks.</param>
/// <param name="finder">Tests those of which masks do not say all, and windows in which very many entries have all words.</param>
/// <param name="factors">Lengths of the field where scores are wanted.</param>
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

    /// <summary>Whether there is room for another window.</summary>
    public bool HasRoom => _count < PhraseMasks.MaxWindows && masks.EntryCount < PhraseMasks.ManyEntries;

    /// <summary>Tests the entries of windows.</summary>
    public PhraseMasks Masks => masks;

    /// <summary>Of the window it stands on, the entries that have the phrase.</summary>
    public ReadOnlySpan<ushort> Found => _isNone ? default : _found.AsSpan(_ends[_current].._ends[_current + 1]);

    /// <summary>How often each of these has it.</summary>
    public ReadOnlySpan<float> Frequencies => _frequencies.AsSpan(_ends[_current].._ends[_current + 1]);

    /// <summary>Forgets what was found, and goes on with other windows.</summary>
    /// <param name="from">The first of them.</param>
    /// <param name="isWhole">Whether all entries that have all words will be looked at.</param>
    public void Begin(long from, bool isWhole)
    {
        (_from, _end, _isWhole) = (from, from, isWhole); // nothing is known before Find
        _count = _current = 0;
        masks.Clear();
    }

    /// <summary>
    /// Adds a window, later than those before, so many entries of which, which stand in the room of <see cref="Masks"/>, have the
    /// words that are looked for first. Where all entries are looked at, windows that are not added have none.
    /// </summary>
    public void Add(long window, int entries)
    {
        if (_isWhole && entries == 0)
            return;
        _windows[_count] = window;
        _areOpen[_count] = false;
        masks.Add(window, entries);
        _count++;
    }

    /// <summary>Adds a window, later than those before, that has to be looked at by itself.</summary>
    public void AddOpen(long window)
    {
        _windows[_count] = window;
        _areOpen[_count] = true;
        masks.Add(window, 0);
        _count++;
    }

    /// <summary>Finds the phrase in the windows added.</summary>
    /// <param name="end">The first window behind those that were looked at.</param>
    public void Find(long end)
    {
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
            if (kept > _ends[i])
                factors?.Prefetch(_windows[i], _found.AsSpan(_ends[i]..kept));
        }
    }

    /// <summary>Whether a window is among those that were looked at, or before one of them.</summary>
    public bool Covers(long window, bool wantsAll) => (_isWhole || !wantsAll) && window >= _from && window < _end;

    /// <summary>
    /// Goes to a window, if it is known what it has; where not all entries were looked at, only if that is enough.
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

    /// <summary>The first window from one on that may have the phrase; false where nothing is known of it.</summary>
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

        from = _end; // it has the words that are looked for first, if it is one
        return true;
    }
}
