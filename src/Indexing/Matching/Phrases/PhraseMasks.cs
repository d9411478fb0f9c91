using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// Finds by position masks (<see cref="PositionKernels"/>) which entries of some windows may contain a phrase, and at which
/// start positions. Narrows term by term, reading each term only for the remaining entries. The data of one term is
/// prefetched for all windows before any of it is read.
/// </summary>
internal sealed class PhraseMasks
{
    /// <summary>Maximum number of windows.</summary>
    public const int MaxWindows = 64;

    /// <summary>Maximum number of entries added before the last window, which may be full.</summary>
    public const int ManyEntries = PostingWindow.Size;

    private const int RoomEntries = PostingWindow.Size + ManyEntries;

    /// <summary>The two rarest words are read together, since one alone excludes hardly any entry.</summary>
    private const int FirstTerms = 2;

    private readonly QueryContext _context;
    private readonly TermOperator[] _terms;
    private readonly int[][] _places;
    private readonly int _slop;
    private readonly long[] _windows = new long[MaxWindows];
    private readonly int[] _ends = new int[MaxWindows + 1];
    private readonly ushort[] _entries;
    private ulong[]? _begins;
    private ulong[]? _masks;
    private byte[]? _isLong;
    private byte[]? _areLong;

    /// <param name="context">The query.</param>
    /// <param name="terms">The distinct terms in the order in which they are read, the rarest first.</param>
    /// <param name="places">For each term, its positions in the phrase.</param>
    /// <param name="slop">How far words may be from their positions: below <see cref="PositionKernels.MaskBits"/>.</param>
    public PhraseMasks(QueryContext context, TermOperator[] terms, int[][] places, int slop)
    {
        _context = context;
        _terms = terms;
        _places = places;
        _slop = slop;
        _entries = context.RentOffsets(RoomEntries);
    }

    /// <summary>Number of windows added.</summary>
    public int WindowCount { get; private set; }

    /// <summary>Number of entries of all windows together.</summary>
    public int EntryCount => _ends[WindowCount];

    /// <summary>Buffer for the entries of the next window.</summary>
    public Span<ushort> Room => _entries.AsSpan(EntryCount);

    /// <summary>Removes all windows.</summary>
    public void Clear() => WindowCount = 0;

    /// <summary>
    /// Adds a window whose entries have been written to <see cref="Room"/>, ascending; they must have all words.
    /// </summary>
    public void Add(long window, int count)
    {
        Debug.Assert(WindowCount < MaxWindows, "a batch has room for the window");
        Debug.Assert(count >= 0 && count <= _entries.Length - EntryCount, "the entries of the window are in the buffer");
        Debug.Assert(WindowCount == 0 || _windows[WindowCount - 1] < window, "windows ascend");
        _windows[WindowCount] = window;
        _ends[WindowCount + 1] = EntryCount + count;
        WindowCount++;
    }

    /// <summary>Removes the entries that do not have a term.</summary>
    public void Keep(TermOperator term)
    {
        Span<long> asked = stackalloc long[MaxWindows];
        int count = 0;
        for (int i = 0; i < WindowCount; i++)
        {
            asked[count] = _windows[i];
            count += _ends[i] < _ends[i + 1] ? 1 : 0;
        }

        term.Ahead?.Expect(asked[..count]);
        for (int i = 0; i < WindowCount; i++)
        {
            if (_ends[i] < _ends[i + 1])
                term.Ahead?.Expect(_windows[i], _entries.AsSpan(_ends[i].._ends[i + 1]));
        }

        int start = 0, kept = 0;
        for (int i = 0; i < WindowCount; i++)
        {
            Span<ushort> mine = _entries.AsSpan(start.._ends[i + 1]);
            start = _ends[i + 1];
            int stay = mine.IsEmpty ? 0 : term.Keep(_windows[i], mine, wanted: true);
            if (stay > 0)
                term.Ahead?.ExpectPositions(_windows[i]);
            mine[..stay].CopyTo(_entries.AsSpan(kept));
            _ends[i + 1] = kept += stay;
        }
    }

    /// <summary>Keeps the entries that may contain the phrase.</summary>
    public void Run()
    {
        _begins ??= _context.RentWords(RoomEntries);
        _masks ??= _context.RentWords(RoomEntries);
        _isLong ??= _context.RentBytes(RoomEntries);
        _areLong ??= _context.RentBytes(RoomEntries);
        _begins.AsSpan(0, EntryCount).Fill(ulong.MaxValue);
        _areLong.AsSpan(0, EntryCount).Clear();
        for (int from = 0, end = Math.Min(FirstTerms, _terms.Length); from < _terms.Length && EntryCount > 0; from = end, end++)
        {
            for (int term = from; term < end; term++)
                Locate(_terms[term]);
            for (int term = from; term < end; term++)
                Narrow(term, EntryCount);
            Shrink();
        }
    }

    /// <summary>The remaining entries of a window.</summary>
    public ReadOnlySpan<ushort> Entries(int window) => _entries.AsSpan(_ends[window].._ends[window + 1]);

    /// <summary>For each remaining entry, the possible start positions of the phrase, as a bitmap.</summary>
    public ReadOnlySpan<ulong> Begins(int window) => _begins.AsSpan(_ends[window].._ends[window + 1]);

    /// <summary>
    /// For each remaining entry, 1 if the result is uncertain because a word occurs at positions beyond those a mask covers.
    /// </summary>
    public ReadOnlySpan<byte> AreLong(int window) => _areLong.AsSpan(_ends[window].._ends[window + 1]);

    private void Locate(TermOperator term)
    {
        for (int i = 0; i < WindowCount; i++)
        {
            if (_ends[i] < _ends[i + 1])
                term.LocatePositions(_windows[i], _entries.AsSpan(_ends[i].._ends[i + 1]));
        }
    }

    private void Narrow(int term, int count)
    {
        Debug.Assert(count == EntryCount, "all entries of the batch are narrowed together");
        Span<ulong> left = _begins.AsSpan(0, count), mine = _masks.AsSpan(0, count);
        Span<byte> areLong = _areLong.AsSpan(0, count), isLong = _isLong.AsSpan(0, count);
        _terms[term].ReadMasks(mine, isLong);
        foreach (int place in _places[term])
        {
            if (_slop == 0)
                PositionKernels.Narrow(left, mine, isLong, place);
            else
                PositionKernels.NarrowNear(left, mine, place, _slop);
        }

        for (int i = 0; i < count; i++)
            areLong[i] |= isLong[i];
    }

    /// <summary>Removes the entries without a possible start position.</summary>
    private void Shrink()
    {
        (ulong[] begins, byte[] areLong) = (_begins!, _areLong!); // Run rents them
        int left = 0;
        for (int window = 0, i = 0; window < WindowCount; window++)
        {
            for (int end = _ends[window + 1]; i < end; i++)
            {
                (_entries[left], begins[left], areLong[left]) = (_entries[i], begins[i], areLong[i]);
                left += begins[left] != 0 ? 1 : 0;
            }

            _ends[window + 1] = left;
        }
    }
}
