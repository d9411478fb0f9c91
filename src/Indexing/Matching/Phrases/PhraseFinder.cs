using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// Finds which entries of a window that have all words of a phrase contain the phrase, and how often:
/// <list type="number">
/// <item>if there are many candidate entries and the phrase is exact, the positions of the two rarest words are laid out for
/// the whole window and compared at once (<see cref="PairKernels"/>);</item>
/// <item>remaining or few candidates are tested by position masks (<see cref="PositionKernels"/>), rarest word first;</item>
/// <item>all positions are compared only for entries that the masks keep but cannot decide: long ones, and those of phrases
/// with slop.</item>
/// </list>
/// The results of the current window are kept, so that scoring does not compute them again.
/// </summary>
internal sealed class PhraseFinder
{
    /// <summary>Cost of locating a single entry, relative to one posting of a window that is laid out as a whole.</summary>
    private const int EntryCost = 32;

    /// <summary>Up to this many entries of a window are always tested one by one.</summary>
    private const int FewEntries = 64;

    /// <summary>With at least this many entries, laying out the window is considered.</summary>
    private const int ManyEntries = 16;

    /// <summary>
    /// Maximum slop for which masks exclude enough entries to pay. Those they keep are read a second time.
    /// </summary>
    private const int MostSlop = 3;

    /// <summary>With slop, masks are used for at least this many entries of a window.</summary>
    private const int ManyNear = 64;

    private readonly QueryContext _context;
    private readonly TermOperator[] _terms;
    private readonly PhraseMatcher _matcher;
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
    /// <param name="terms">The distinct terms, the rarest first, opened with positions.</param>
    /// <param name="matcher">Decides whether positions form the phrase.</param>
    public PhraseFinder(QueryContext context, TermOperator[] terms, PhraseMatcher matcher)
    {
        _context = context;
        _terms = terms;
        _matcher = matcher;
        _places = matcher.Places();
        Masks = new PhraseMasks(context, terms, _places, matcher.Slop);
    }

    /// <summary>Tests entries by position masks.</summary>
    public PhraseMasks Masks { get; }

    /// <summary>Bitmap of the tested entries of the current window that contain the phrase.</summary>
    public ReadOnlySpan<ulong> Matched => _matched;

    /// <summary>The phrase's frequency in each matched entry, by offset in the window.</summary>
    public ReadOnlySpan<float> Frequencies => _frequencies;

    /// <summary>Tests the entries of a window that were not tested before. All of them must have all words.</summary>
    /// <param name="window">The window.</param>
    /// <param name="asked">Bitmap of the entries; its contents are undefined afterwards.</param>
    public void Look(long window, Span<ulong> asked)
    {
        Debug.Assert(asked.Length == BitmapKernels.Words, "each block has a word");
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

    /// <summary>As <see cref="Look(long, Span{ulong})"/>, for a list of ascending entries.</summary>
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

    /// <summary>Whether a window with this many entries may be laid out as a whole.</summary>
    public static bool IsForPairs(int count) => count > FewEntries;

    /// <summary>Returns the frequency of the phrase in one entry that has all words.</summary>
    public float FrequencyOf(long id)
    {
        _context.Meter.Count.EntriesScanned++;
        MakeLists();
        for (int i = 0; i < _terms.Length; i++)
            _positions[i].Set(_terms[i].Positions(id));
        return _matcher.Match(_positions);
    }

    /// <summary>Created on first use, since for most phrases no entry is tested by all its positions.</summary>
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
        Debug.Assert(_current == window && asked.Length == BitmapKernels.Words, "the finder is on the window");
        if (_matcher.Slop > 0
            || !TryFindPairs(window, asked, count)
            || _terms.Length > 2
            || _places[0].Length + _places[1].Length > 2)
        {
            Find(window, _entries.AsSpan(0, BitmapKernels.Decode(asked, _entries)));
            return;
        }

        // The phrase consists of these two words only.
        for (int i = 0; i < asked.Length; i++)
            _matched[i] |= asked[i];
    }

    private void Find(long window, Span<ushort> asked)
    {
        Debug.Assert(_current == window, "the finder is on the window");
        if (_matcher.Slop == 0 || (_matcher.Slop <= MostSlop && asked.Length >= ManyNear))
            asked = asked[..FindByMasks(window, asked)];
        if (asked.Length > 0)
            FindByPositions(window, asked);
    }

    /// <summary>
    /// Keeps the entries in which the two rarest words are at the right distance. Returns false and keeps all if this does
    /// not pay or the positions cannot be laid out.
    /// </summary>
    private bool TryFindPairs(long window, Span<ulong> asked, int count)
    {
        Debug.Assert(_matcher.Slop == 0, "pairs are of exact distance");
        if (_terms is not [LongListOperator one, LongListOperator other, ..])
            return false;
        int ofOne = one.Count(window), ofOther = other.Count(window);
        if (ofOne == 0 || ofOther == 0 || (long)count * EntryCost < ofOne + ofOther)
            return false;
        _first ??= Rent();
        _second ??= Rent();
        if (!one.TryCopyPlaces(window, _first) || !other.TryCopyPlaces(window, _second))
            return false;
        PairKernels.Find(asked, _first.Places, _second.Places, _places[1][0] - _places[0][0], _frequencies);
        return true;
    }

    private WindowPlaces Rent() =>
        new(
            _context.RentWords(BitmapKernels.Words), _context.RentBytes(WindowPlaces.StartBytes),
            _context.RentBytes(WindowPlaces.RoomBytes));

    /// <summary>
    /// Tests entries by masks. Moves those that masks cannot decide to the front and returns how many there are.
    /// </summary>
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

        Debug.Assert(unsure <= asked.Length, "the masks only remove entries");
        return unsure;
    }

    /// <summary>Tests entries by all their positions, reading those of each term in one pass.</summary>
    private void FindByPositions(long window, ReadOnlySpan<ushort> asked)
    {
        Debug.Assert(_current == window && !asked.IsEmpty, "the finder is on the window, with entries to look at");
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
        Debug.Assert(frequency > 0, "a match occurs at least once");
        _matched[entry >> PostingWindow.BlockBits] |= 1UL << entry;
        _frequencies[entry] = frequency;
    }
}
