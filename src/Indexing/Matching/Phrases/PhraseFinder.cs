using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// Finds which entries of a window that have all words of a phrase have it, and how often:
/// <list type="number">
/// <item>where a window has many such entries, and the words stand at fixed places to each other, the places of the two rarest
/// words are laid out as a whole and compared at once (<see cref="PairKernels"/>);</item>
/// <item>what is left, or is few, is tested by masks of places (<see cref="PositionKernels"/>), the rarest word first;</item>
/// <item>only of entries that the masks leave, and of which they do not say all, are all places compared: long ones, and those of
/// words that may be apart.</item>
/// </list>
/// What was found in a window is kept while it is the current one, so that scoring does not look again.
/// </summary>
internal sealed class PhraseFinder
{
    /// <summary>What one entry that is located by itself costs, in postings of a window that is laid out as a whole.</summary>
    private const int EntryCost = 32;

    /// <summary>Up to so many entries of a window are always tested each by itself.</summary>
    private const int FewEntries = 64;

    /// <summary>From so many entries on it is asked whether laying out a window pays.</summary>
    private const int ManyEntries = 16;

    /// <summary>
    /// Greatest slop up to which masks leave out enough of words that may be apart: what they leave is read once more.
    /// </summary>
    private const int MostSlop = 3;

    /// <summary>From so many entries of a window on they are asked about such words.</summary>
    private const int ManyNear = 64;

    private readonly QueryContext _context;
    private readonly TermOperator[] _terms;
    private readonly PhraseMatcher _matcher;
    private readonly int[] _order;
    private readonly int[][] _places;
    private PositionList[] _positions = [];
    private ulong[] _known = [];
    private ulong[] _matched = [];
    private float[] _frequencies = [];
    private ushort[] _entries = [];
    private PositionTable[]? _tables;
    private WindowPlaces? _first;
    private WindowPlaces? _second;
    private long _current = -1;

    /// <param name="context">The query.</param>
    /// <param name="terms">The different terms, opened with positions.</param>
    /// <param name="matcher">Tells phrases from words that stand apart.</param>
    public PhraseFinder(QueryContext context, TermOperator[] terms, PhraseMatcher matcher)
    {
        _context = context;
        _terms = terms;
        _matcher = matcher;
        _order = ByCost(terms);
        _places = matcher.Places();
        Masks = new PhraseMasks(context, terms, _order, _places, matcher.Slop);
    }

    /// <summary>Tests entries by masks.</summary>
    public PhraseMasks Masks { get; }

    /// <summary>The entries of the current window that were looked at and have the phrase, as a bitmap.</summary>
    public ReadOnlySpan<ulong> Matched => _matched;

    /// <summary>How often each of these has it.</summary>
    public ReadOnlySpan<float> Frequencies => _frequencies;

    /// <summary>Looks at those entries of a window that were not looked at before; all have all words.</summary>
    /// <param name="window">The window.</param>
    /// <param name="asked">The entries, as a bitmap; scratch afterwards.</param>
    public void Look(long window, Span<ulong> asked)
    {
        Enter(window);
        int count = 0;
        for (int i = 0; i < asked.Length; i++)
        {
            asked[i] &= ~_known[i];
            _known[i] |= asked[i];
            count += BitOperations.PopCount(asked[i]);
        }

        if (count == 0)
            return;
        _context.Meter.Count.EntriesScanned += count;
        FindMany(window, asked, count);
    }

    /// <summary>As <see cref="Look(long, Span{ulong})"/>, of few entries, which ascend.</summary>
    public void Look(long window, ReadOnlySpan<ushort> asked)
    {
        Enter(window);
        int count = 0;
        foreach (ushort entry in asked)
        {
            _entries[count] = entry;
            ref ulong word = ref _known[entry >> PostingWindow.BlockBits];
            ulong bit = 1UL << entry;
            count += (word & bit) == 0 ? 1 : 0;
            word |= bit;
        }

        _context.Meter.Count.EntriesScanned += count;
        if (count < ManyEntries)
        {
            Find(window, _entries.AsSpan(0, count));
            return;
        }

        Span<ulong> words = stackalloc ulong[BitmapKernels.Words];
        words.Clear();
        BitmapKernels.Set(words, _entries.AsSpan(0, count));
        FindMany(window, words, count);
    }

    /// <summary>Whether so many entries of a window may be found at once, by laying out all of it.</summary>
    public static bool IsForPairs(int count) => count > FewEntries;

    /// <summary>How often one entry that has all words has the phrase.</summary>
    public float FrequencyOf(long id)
    {
        _context.Meter.Count.EntriesScanned++;
        MakeLists();
        for (int i = 0; i < _terms.Length; i++)
            _positions[i].Set(_terms[i].Positions(id));
        return _matcher.Match(_positions);
    }

    private static int[] ByCost(TermOperator[] terms)
    {
        int[] ordered = new int[terms.Length];
        for (int i = 0; i < ordered.Length; i++)
        {
            int place = i;
            for (; place > 0 && terms[ordered[place - 1]].Estimate > terms[i].Estimate; place--)
                ordered[place] = ordered[place - 1];
            ordered[place] = i;
        }

        return ordered;
    }

    /// <summary>Of most phrases no entry is tested by all its positions.</summary>
    private void MakeLists()
    {
        if (_positions.Length == 0)
            _positions = [.. _terms.Select(static _ => new PositionList())];
    }

    private void Enter(long window)
    {
        if (window == _current)
            return;
        if (_known.Length == 0)
        {
            _known = new ulong[BitmapKernels.Words];
            _matched = new ulong[BitmapKernels.Words];
            _frequencies = _context.RentNumbers(PostingWindow.Size);
            _entries = _context.RentOffsets();
        }

        Array.Clear(_known);
        Array.Clear(_matched);
        _current = window;
    }

    private void FindMany(long window, Span<ulong> asked, int count)
    {
        if (_matcher.Slop > 0
            || !TryFindPairs(window, asked, count)
            || _terms.Length > 2
            || _places[0].Length + _places[1].Length > 2)
        {
            Find(window, _entries.AsSpan(0, BitmapKernels.Decode(asked, _entries)));
            return;
        }

        // The two words are all of it.
        for (int i = 0; i < asked.Length; i++)
            _matched[i] |= asked[i];
    }

    private void Find(long window, Span<ushort> asked)
    {
        if (_matcher.Slop == 0 || (_matcher.Slop <= MostSlop && asked.Length >= ManyNear))
            asked = asked[..FindByMasks(window, asked)];
        if (asked.Length > 0)
            FindByPositions(window, asked);
    }

    /// <summary>
    /// Leaves those entries in which the two rarest words stand as they have to; false, and all are left, where it does not pay
    /// or their positions are not for that.
    /// </summary>
    private bool TryFindPairs(long window, Span<ulong> asked, int count)
    {
        if (_terms.Length < 2)
            return false;
        TermOperator one = _terms[_order[0]], other = _terms[_order[1]];
        int ofOne = one.PlacesIn(window), ofOther = other.PlacesIn(window);
        if (ofOne == 0 || ofOther == 0 || (long)count * EntryCost < ofOne + ofOther)
            return false;
        _first ??= Rent();
        _second ??= Rent();
        if (!one.TryCopyPlaces(window, _first) || !other.TryCopyPlaces(window, _second))
            return false;
        PairKernels.Find(asked, _first.Places, _second.Places, _places[_order[1]][0] - _places[_order[0]][0], _frequencies);
        return true;
    }

    private WindowPlaces Rent() =>
        new(
            _context.RentWords(BitmapKernels.Words), _context.RentBytes(WindowPlaces.StartBytes),
            _context.RentBytes(WindowPlaces.RoomBytes));

    /// <summary>Tests entries by Masks. Those of which masks do not say all stand first then; returns how many.</summary>
    private int FindByMasks(long window, Span<ushort> asked)
    {
        Masks.Clear();
        asked.CopyTo(Masks.Room);
        Masks.Add(window, asked.Length);
        Masks.Run();
        ReadOnlySpan<ushort> left = Masks.Entries(0);
        ReadOnlySpan<ulong> begins = Masks.Begins(0);
        ReadOnlySpan<byte> areLong = Masks.AreLong(0);
        int unsure = 0;
        for (int i = 0; i < left.Length; i++)
        {
            if (areLong[i] != 0 || _matcher.Slop > 0)
                asked[unsure++] = left[i];
            else
                Add(left[i], BitOperations.PopCount(begins[i]));
        }

        return unsure;
    }

    /// <summary>Tests entries by all their positions: those of each term are read in one pass.</summary>
    private void FindByPositions(long window, ReadOnlySpan<ushort> asked)
    {
        MakeLists();
        _tables ??= [.. _terms.Select(static _ => new PositionTable())];
        for (int i = 0; i < _terms.Length; i++)
            _terms[i].CopyPositions(window, asked, _tables[i]);
        for (int place = 0; place < asked.Length; place++)
        {
            for (int i = 0; i < _terms.Length; i++)
                _positions[i].Set(_tables[i], place);
            float frequency = _matcher.Match(_positions);
            if (frequency > 0)
                Add(asked[place], frequency);
        }
    }

    private void Add(ushort entry, float frequency)
    {
        _matched[entry >> PostingWindow.BlockBits] |= 1UL << entry;
        _frequencies[entry] = frequency;
    }
}
