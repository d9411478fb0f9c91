using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Storage.Kernels;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// Finds the entries of whole windows that have the rarest words of a phrase (the leading words). All windows of a leading
/// word are located once, in one pass, and intersected in place: with few entries per window, locating each window
/// separately would dominate. Other words are tested only for the remaining entries. If the rarest word has a short list,
/// its entries are looked up in the lists of all others. If the rarest words have few entries per window, their lists are
/// merged. In both cases the result is known before the first window is requested.
/// </summary>
internal sealed class PhraseWords
{
    /// <summary>Returned instead of a count if the entries are in <see cref="Bits"/>.</summary>
    public const int Many = -1;

    /// <summary>
    /// If at least one in this many windows of a list is requested, reading the whole list is cheaper than seeking each
    /// window.
    /// </summary>
    private const int WholeRatio = 2;

    /// <summary>
    /// Factor on the limit of entries per window up to which lists are merged: higher than for other queries, since here the
    /// alternative is to locate the windows of each list separately.
    /// </summary>
    private const int MergedRatio = 2;

    /// <summary>Number of windows by which lookups are prefetched ahead.</summary>
    private const int Ahead = 4;

    private readonly QueryContext _context;
    private readonly TermOperator[] _words;
    private readonly bool[] _areWhole;
    private readonly int[] _places;
    private readonly int _merged;
    private ulong[] _bits;
    private int _fewCount = -1;
    private int _fewPlace;
    private int _announced;
    private int _announcedOther;

    /// <param name="context">The query.</param>
    /// <param name="words">The distinct words, the rarest first.</param>
    public PhraseWords(QueryContext context, TermOperator[] words)
    {
        _context = context;
        _words = words;
        _places = new int[words.Length];
        _merged = CountMerged();
        _areWhole = new bool[words.Length];
        _bits = context.RentWords(Math.Max(BitmapKernels.Words, FlatPostings.MaxEntries));
        double windows = Math.Max(1, context.View.WindowCount),
            entries = Math.Max(1, context.View.State.EntryCount),
            asked = windows;
        for (int i = 0; i < words.Length; i++)
        {
            _areWhole[i] = words[i] is LongListOperator
                && (i == 0 || WholeRatio * Math.Min(windows, asked) >= Math.Min(windows, words[i].Estimate));
            asked = i == 0 ? words[0].Estimate : asked * words[i].Estimate / entries;
        }

        FirstCount = CountFirst(windows);
    }

    /// <summary>Number of leading words.</summary>
    public int FirstCount { get; }

    /// <summary>The words other than the leading ones.</summary>
    public ReadOnlySpan<TermOperator> Others => _words.AsSpan(FirstCount);

    /// <summary>
    /// Bitmap of the entries found by the last <see cref="Meet"/> that returned <see cref="Many"/>; may be overwritten.
    /// </summary>
    public Span<ulong> Bits => _bits.AsSpan(0, BitmapKernels.Words);

    /// <summary>
    /// Whether the rarest word has a short list, so that its entries are looked up in the lists of all others.
    /// </summary>
    private bool IsShort => _words[0] is ShortListOperator;

    /// <summary>Whether all entries with the leading words are found before the first window is requested.</summary>
    private bool AreKnown => IsShort || _merged > 0;

    private ReadOnlySpan<ulong> Few => _bits.AsSpan(0, _fewCount);

    /// <summary>Starts a pass over the windows.</summary>
    public void Begin()
    {
        _fewPlace = 0;
        if (_fewCount < 0 && IsShort)
            FindFew();
        else if (_fewCount < 0 && _merged > 0)
            Merge();
        for (int i = IsShort ? _words.Length : _merged; i < _words.Length; i++)
        {
            if (_areWhole[i])
                _words[i].Ahead?.ExpectAll(_context.Meter, _context);
            else
                _words[i].Ahead?.ForgetPages();
        }

        _places.AsSpan().Clear();
        _announced = _announcedOther = 0;
    }

    /// <summary>
    /// Returns the first window at or after <paramref name="from"/> that has all leading words, or
    /// <see cref="Operator.End"/>. Calls since <see cref="Begin"/> must ascend.
    /// </summary>
    public long Next(long from)
    {
        if (AreKnown)
        {
            while (_fewPlace < _fewCount && WindowOf(_bits[_fewPlace]) < from)
                _fewPlace++;
            return _fewPlace < _fewCount ? WindowOf(_bits[_fewPlace]) : Operator.End;
        }

        for (long window = from; ;)
        {
            long next = NextOf(0, window);
            for (int i = 1; i < FirstCount && next == window; i++)
                next = NextOf(i, window);
            if (next == window || next == Operator.End)
                return next;
            window = next;
        }
    }

    /// <summary>Announces that positions of the window found last are going to be read.</summary>
    public void ExpectPositions(long window)
    {
        for (int i = 0; i < FirstCount; i++)
            _words[i].Ahead?.ExpectPositions(window);
    }

    /// <summary>
    /// Writes the entries of the window found last that have all leading words; returns how many, or <see cref="Many"/>.
    /// </summary>
    /// <param name="window">The window.</param>
    /// <param name="room">Room for all entries of a window.</param>
    public int Meet(long window, Span<ushort> room)
    {
        Debug.Assert(room.Length >= PostingWindow.Size || AreKnown, "the buffer holds the entries of a window");
        if (AreKnown)
        {
            int left = 0;
            for (int i = _fewPlace; i < _fewCount && WindowOf(_bits[i]) == window; i++)
                room[left++] = OffsetOf(_bits[i]);
            return left;
        }

        Announce();
        int rarest = 0;
        for (int i = 1; i < FirstCount; i++)
            rarest = WindowsOf(i)[_places[i]].Count < WindowsOf(rarest)[_places[rarest]].Count ? i : rarest;
        return WindowsOf(rarest)[_places[rarest]].Count < PostingWindow.MinBitsCount
            ? MeetLists(rarest, room)
            : MeetBits(rarest, room);
    }

    /// <summary>The windows of a leading word, whose list is long if the entries are not known in advance.</summary>
    private ReadOnlySpan<HeldWindow> WindowsOf(int word) => _words[word].Ahead!.Windows;

    private static long WindowOf(ulong id) => (long)(id >> PostingWindow.SizeBits);

    private static ushort OffsetOf(ulong id) => (ushort)(id & (PostingWindow.Size - 1));

    /// <summary>Finds the entries of the rarest word, which has a short list, that all other words have.</summary>
    private void FindFew()
    {
        Debug.Assert(IsShort && _fewCount < 0, "common entries of short lists are found once");
        _fewCount = ((ShortListOperator)_words[0]).CopyIds(_bits);
        for (int i = 1; i < _words.Length && _fewCount > 0; i++)
            _fewCount = _words[i] is ShortListOperator other ? other.KeepIds(_bits.AsSpan(0, _fewCount)) : KeepFew(i);
    }

    /// <summary>Finds the entries that all words with merged lists share.</summary>
    private void Merge()
    {
        Debug.Assert(_merged > 1 && _fewCount < 0, "at least two lists are merged, once");
        var lists = new PostingList[_merged];
        for (int i = 0; i < lists.Length; i++)
        {
            lists[i] = _context.Rent<PostingList>();
            _words[i].Open(lists[i]);
            _words[i].Ahead?.ForgetPages();
        }

        var windows = new ListIntersection(lists, _context.RentOffsets(), _context);
        for (_fewCount = 0; windows.MoveNext(out Span<ushort> found);)
        {
            if (_bits.Length < _fewCount + found.Length)
                Grow(_fewCount + found.Length);
            ulong first = (ulong)windows.Window << PostingWindow.SizeBits;
            foreach (ushort entry in found)
                _bits[_fewCount++] = first + entry;
            for (int i = 0; i < lists.Length; i++)
            {
                HeldWindow held = lists[i].Held;
                _words[i].Ahead?.Add(in held);
            }
        }
    }

    private void Grow(int least)
    {
        Debug.Assert(least > _bits.Length, "the buffer is too short");
        ulong[] before = _bits;
        _bits = _context.RentWords(Math.Max(least, 2 * before.Length));
        before.AsSpan(0, _fewCount).CopyTo(_bits);
    }

    /// <summary>
    /// Keeps the entries that a word with a long list has; returns how many. All lookups are prefetched before the first is
    /// made.
    /// </summary>
    private int KeepFew(int word)
    {
        Debug.Assert(_fewCount is >= 0 and <= FlatPostings.MaxEntries, "few entries are looked up");
        WindowsAhead ahead = _words[word].Ahead!; // the list is long
        if (_areWhole[word])
            ahead.ExpectAll(_context.Meter, _context);
        else
            ExpectFew(ahead);
        ReadOnlySpan<HeldWindow> windows = ahead.Windows;
        Span<int> at = stackalloc int[FlatPostings.MaxEntries];
        for (int i = 0, place = 0; i < _fewCount; i++)
        {
            long window = WindowOf(_bits[i]);
            while (place < windows.Length && windows[place].Window < window)
                place++;
            at[i] = place < windows.Length && windows[place].Window == window ? place : -1;
            if (at[i] >= 0)
                windows[place].Prefetch([OffsetOf(_bits[i])]);
        }

        int kept = 0;
        for (int i = 0; i < _fewCount; i++)
        {
            bool isThere = at[i] >= 0 && windows[at[i]].Contains(OffsetOf(_bits[i]));
            _bits[kept] = _bits[i];
            kept += isThere ? 1 : 0;
        }

        return kept;
    }

    private void ExpectFew(WindowsAhead ahead)
    {
        ahead.ForgetPages();
        Span<long> windows = stackalloc long[FlatPostings.MaxEntries];
        int count = 0;
        foreach (ulong id in Few)
        {
            if (count == 0 || WindowOf(id) != windows[count - 1])
                windows[count++] = WindowOf(id);
        }

        ahead.Expect(windows[..count]);
    }

    private long NextOf(int word, long window)
    {
        Debug.Assert((uint)word < (uint)FirstCount, "only leading words are asked for their windows");
        ReadOnlySpan<HeldWindow> mine = WindowsOf(word);
        ref int place = ref _places[word];
        while (place < mine.Length && mine[place].Window < window)
            place++;
        return place < mine.Length ? mine[place].Window : Operator.End;
    }

    /// <summary>
    /// Keeps the entries of the rarest leading word, which are a list in this window, that the other leading words have.
    /// </summary>
    private int MeetLists(int rarest, Span<ushort> room)
    {
        Debug.Assert((uint)rarest < (uint)FirstCount, "the rarest word is a leading one");
        HeldWindow lead = WindowsOf(rarest)[_places[rarest]];
        int count = lead.Count;
        bool isCopied = false;
        for (int i = 0; i < FirstCount && count > 0; i++)
        {
            if (i == rarest)
                continue;
            HeldWindow other = WindowsOf(i)[_places[i]];
            if (!isCopied && other.Count < PostingWindow.MinBitsCount)
            {
                count = MeetLists(lead, other, room);
            }
            else
            {
                if (!isCopied)
                    lead.PaddedOffsets[..count].CopyTo(room);
                count = Keep(other, room[..count]);
            }

            isCopied = true;
        }

        if (!isCopied)
            lead.PaddedOffsets[..count].CopyTo(room);
        return count;
    }

    private static int Keep(in HeldWindow other, Span<ushort> entries) => other.Count switch
    {
        < PostingWindow.MinBitsCount => SortedSets.Intersect(entries, other.PaddedOffsets[..other.Count]),
        < PostingWindow.Size => OffsetKernels.Filter(entries, MemoryMarshal.Cast<byte, ulong>(other.Bitmap), wanted: true),
        _ => entries.Length,
    };

    private static int MeetLists(in HeldWindow one, in HeldWindow other, Span<ushort> room)
    {
        const int Lanes = 16;
        ReadOnlySpan<ushort> left = one.PaddedOffsets, right = other.PaddedOffsets;
        if (other.Count <= OffsetKernels.Few && left.Length >= OffsetKernels.Few && right.Length >= OffsetKernels.Few)
            return OffsetKernels.IntersectFew(right, other.Count, left, one.Count, room); // one is not longer
        if (right.Length >= other.Count + Lanes)
            return OffsetKernels.Intersect(right, other.Count, left[..one.Count], room);
        left[..one.Count].CopyTo(room);
        return SortedSets.Intersect(room[..one.Count], right[..other.Count]);
    }

    private int MeetBits(int rarest, Span<ushort> room)
    {
        Debug.Assert((uint)rarest < (uint)FirstCount, "the rarest word is a leading one");
        WindowsOf(rarest)[_places[rarest]].Postings.CopyWords(_bits);
        for (int i = 0; i < FirstCount; i++)
        {
            HeldWindow other = WindowsOf(i)[_places[i]];
            if (i == rarest || other.Count == PostingWindow.Size)
                continue;
            BitmapKernels.Combine<AndOperation>(Bits, other.Bitmap);
        }

        return PhraseFinder.IsForPairs(BitmapKernels.Count(Bits)) ? Many : BitmapKernels.Decode(Bits, room);
    }

    /// <summary>Prefetches what decides which entries of the next windows have the second word.</summary>
    private void Announce()
    {
        ReadOnlySpan<HeldWindow> mine = WindowsOf(0);
        if (FirstCount == 1)
            return;
        ReadOnlySpan<HeldWindow> other = WindowsOf(1);
        for (_announced = Math.Max(_announced, _places[0]); _announced < Math.Min(mine.Length, _places[0] + Ahead); _announced++)
        {
            ref readonly HeldWindow soon = ref mine[_announced];
            while (_announcedOther < other.Length && other[_announcedOther].Window < soon.Window)
                _announcedOther++;
            if (_announcedOther == other.Length || other[_announcedOther].Window != soon.Window)
                continue;
            if (soon.Count < PostingWindow.MinBitsCount)
            {
                other[_announcedOther].Prefetch(soon.PaddedOffsets[..soon.Count]);
            }
            else
            {
                soon.PrefetchIds();
                other[_announcedOther].PrefetchIds();
            }
        }
    }

    /// <summary>
    /// Returns the number of words whose lists are merged; 0 if the rarest has a short list or only one qualifies.
    /// </summary>
    private int CountMerged()
    {
        if (IsShort || _context.Hints.Rank == RankHint.Windows)
            return 0;
        long windows = _context.View.WindowCount, together = 0;
        int count = 0;
        while (count < _words.Length
            && _words[count].Estimate is var entries
            && ListIntersection.Takes(entries, _words[0].Estimate, windows, MergedRatio * ListIntersection.MostPerWindow)
            && together + entries <= ListIntersection.MostEntries)
        {
            together += entries;
            count++;
        }

        Debug.Assert(count <= _words.Length && together <= ListIntersection.MostEntries, "only bounded lists are merged");
        return count > 1 ? count : 0;
    }

    /// <summary>
    /// Returns the number of leading words. If the first has few entries per window, the words after the second are tested
    /// only for the remaining entries.
    /// </summary>
    private int CountFirst(double windows)
    {
        const int FewInWindow = WindowSet.MaxListCount / 2;
        int count = 1;
        if (AreKnown)
            return IsShort ? _words.Length : _merged;
        while (count < _words.Length && _areWhole[count] && (count == 1 || _words[0].Estimate >= FewInWindow * windows))
            count++;
        return count;
    }
}
