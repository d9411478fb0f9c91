using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Storage.Kernels;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// Finds the entries of whole windows that have the rarest words of a phrase. All windows of such a word are found once, one
/// after the other, and met where they lie: of words with few entries a window, most of what is done window by window would be
/// the way there and back. Other words are asked about the entries that are left. Where the rarest word has a short list, its
/// entries are sought one by one in the lists of all others; where the rarest have few entries a window, their lists are merged:
/// of these it is known which entries have them before the first window is asked for.
/// </summary>
internal sealed class PhraseWords
{
    /// <summary>In the place of a number: entries are <see cref="Bits"/>.</summary>
    public const int Many = -1;

    /// <summary>
    /// From this part of the windows of a list on, that are asked about, it is cheaper to go along it than to seek each.
    /// </summary>
    private const int WholeRatio = 2;

    /// <summary>
    /// How many times the entries up to which lists are merged for other queries they may have here, where windows of each would
    /// be found one by one otherwise.
    /// </summary>
    private const int MergedRatio = 2;

    /// <summary>So many windows before they are looked at, what they are looked up in is asked for.</summary>
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
    /// <param name="words">The different words, the rarest first.</param>
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

    /// <summary>How many words are met here.</summary>
    public int FirstCount { get; }

    /// <summary>The others.</summary>
    public ReadOnlySpan<TermOperator> Others => _words.AsSpan(FirstCount);

    /// <summary>Entries of the window met last, as a bitmap, where they are many; scratch.</summary>
    public Span<ulong> Bits => _bits.AsSpan(0, BitmapKernels.Words);

    /// <summary>Whether the rarest word has so few entries that they are sought one by one in the lists of all others.</summary>
    private bool IsShort => _words[0] is ShortListOperator;

    /// <summary>
    /// Whether all entries that have the words that are met here are found before the first window is asked for.
    /// </summary>
    private bool AreKnown => IsShort || _merged > 0;

    private ReadOnlySpan<ulong> Few => _bits.AsSpan(0, _fewCount);

    /// <summary>Begins at a window.</summary>
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
                _words[i].ExpectAll();
            else
                _words[i].ExpectNone();
        }

        _places.AsSpan().Clear();
        _announced = _announcedOther = 0;
    }

    /// <summary>
    /// The first window from one on, which is behind those asked about since <see cref="Begin"/>, in which all words are that are
    /// met here; <see cref="Operator.End"/> if there is none.
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

    /// <summary>Says that positions of the window met last are going to be asked for.</summary>
    public void ExpectPositions(long window)
    {
        for (int i = 0; i < FirstCount; i++)
            _words[i].ExpectPositions(window);
    }

    /// <summary>
    /// Writes the entries of the window found last that have all these words; returns how many, or <see cref="Many"/>.
    /// </summary>
    /// <param name="window">The window.</param>
    /// <param name="room">Room for all entries of a window.</param>
    public int Meet(long window, Span<ushort> room)
    {
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
            rarest = _words[i].Windows[_places[i]].Count < _words[rarest].Windows[_places[rarest]].Count ? i : rarest;
        return _words[rarest].Windows[_places[rarest]].Count < PostingWindow.MinBitsCount
            ? MeetLists(rarest, room)
            : MeetBits(rarest, room);
    }

    private static long WindowOf(ulong id) => (long)(id >> PostingWindow.SizeBits);

    private static ushort OffsetOf(ulong id) => (ushort)(id & (PostingWindow.Size - 1));

    /// <summary>Of the entries of the rarest word, keeps those that all others have.</summary>
    private void FindFew()
    {
        _fewCount = ((ShortListOperator)_words[0]).CopyIds(_bits);
        for (int i = 1; i < _words.Length && _fewCount > 0; i++)
            _fewCount = _words[i] is ShortListOperator other ? other.KeepIds(_bits.AsSpan(0, _fewCount)) : KeepFew(i);
    }

    /// <summary>Finds the entries that all words have whose lists are merged.</summary>
    private void Merge()
    {
        var lists = new PostingList[_merged];
        for (int i = 0; i < lists.Length; i++)
        {
            lists[i] = _context.Rent<PostingList>();
            _words[i].Open(lists[i]);
            _words[i].ExpectNone();
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
                _words[i].Hold(in held);
            }
        }
    }

    private void Grow(int least)
    {
        ulong[] before = _bits;
        _bits = _context.RentWords(Math.Max(least, 2 * before.Length));
        before.AsSpan(0, _fewCount).CopyTo(_bits);
    }

    /// <summary>
    /// Keeps those that a word with a long list has; returns how many. Where each is looked for is asked for before the first is
    /// looked at.
    /// </summary>
    private int KeepFew(int word)
    {
        TermOperator term = _words[word];
        if (_areWhole[word])
            term.ExpectAll();
        else
            ExpectFew(term);
        ReadOnlySpan<HeldWindow> windows = term.Windows;
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

    private void ExpectFew(TermOperator term)
    {
        term.ExpectNone();
        Span<long> windows = stackalloc long[FlatPostings.MaxEntries];
        int count = 0;
        foreach (ulong id in Few)
        {
            if (count == 0 || WindowOf(id) != windows[count - 1])
                windows[count++] = WindowOf(id);
        }

        term.ExpectEach(windows[..count]);
    }

    private long NextOf(int word, long window)
    {
        ReadOnlySpan<HeldWindow> mine = _words[word].Windows;
        ref int place = ref _places[word];
        while (place < mine.Length && mine[place].Window < window)
            place++;
        return place < mine.Length ? mine[place].Window : Operator.End;
    }

    /// <summary>Of the rarest word here, which has a list, keeps what the others have.</summary>
    private int MeetLists(int rarest, Span<ushort> room)
    {
        HeldWindow lead = _words[rarest].Windows[_places[rarest]];
        int count = lead.Count;
        bool isCopied = false;
        for (int i = 0; i < FirstCount && count > 0; i++)
        {
            if (i == rarest)
                continue;
            HeldWindow other = _words[i].Windows[_places[i]];
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
            return OffsetKernels.IntersectFew(right, other.Count, left, one.Count, room); // the one is not longer
        if (right.Length >= other.Count + Lanes)
            return OffsetKernels.Intersect(right, other.Count, left[..one.Count], room);
        left[..one.Count].CopyTo(room);
        return SortedSets.Intersect(room[..one.Count], right[..other.Count]);
    }

    private int MeetBits(int rarest, Span<ushort> room)
    {
        _words[rarest].Windows[_places[rarest]].Postings.CopyWords(_bits);
        for (int i = 0; i < FirstCount; i++)
        {
            HeldWindow other = _words[i].Windows[_places[i]];
            if (i == rarest || other.Count == PostingWindow.Size)
                continue;
            BitmapKernels.Combine<AndOperation>(Bits, other.Bitmap);
        }

        return PhraseFinder.IsForPairs(BitmapKernels.Count(Bits)) ? Many : BitmapKernels.Decode(Bits, room);
    }

    /// <summary>Asks for what tells which entries of the windows that come soon have the second word.</summary>
    private void Announce()
    {
        ReadOnlySpan<HeldWindow> mine = _words[0].Windows;
        if (FirstCount == 1)
            return;
        ReadOnlySpan<HeldWindow> other = _words[1].Windows;
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

    /// <summary>How many words have lists that are intersected where they lie; 0 where the rarest has a short one.</summary>
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

        return count > 1 ? count : 0;
    }

    /// <summary>Where few entries have the first two, others are asked about such entries alone.</summary>
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
