using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// Matches entries that contain a phrase. Positions are read only for entries that have all words, see
/// <see cref="PhraseFinder"/>.
/// </summary>
internal sealed class PhraseOperator : Operator
{
    /// <summary>Up to this many known matches, their exact scores are used as bounds.</summary>
    private const int FewFound = 10;

    private readonly TermOperator[] _terms;
    private readonly TermOperator[] _byCost;
    private readonly PhraseMatcher _matcher;
    private readonly LengthFactors? _factors;
    private readonly float _idf;
    private readonly PhraseWords? _words;
    private readonly bool _isExact;
    private PhraseFinder? _opened;
    private PhraseAhead? _ahead;
    private float[]? _known;
    private int _knownCount;
    private long _last = -1;
    private long _expected = -1;

    /// <param name="context">The query.</param>
    /// <param name="terms">The distinct terms as the query names them, for the plan.</param>
    /// <param name="byCost">The same, rarest first, opened with positions.</param>
    /// <param name="matcher">Decides whether positions form the phrase.</param>
    /// <param name="factors">Lengths of the field if scores are wanted.</param>
    /// <param name="idf">Sum over all words of the phrase.</param>
    /// <param name="isExact">Whether the phrase's frequency is at most that of each word.</param>
    public PhraseOperator(
        QueryContext context, TermOperator[] terms, TermOperator[] byCost, PhraseMatcher matcher, LengthFactors? factors,
        double idf, bool isExact)
        : base(context, Estimated(context.View.State.EntryCount, byCost), CostModel.Unknown)
    {
        _terms = terms;
        _matcher = matcher;
        _factors = factors;
        _idf = (float)idf;
        _isExact = isExact;
        _byCost = byCost;
        Debug.Assert(_byCost.Length > 0 && _byCost.Length == terms.Length, "a phrase has words");
        _words = matcher.Slop == 0 ? new PhraseWords(context, _byCost) : null;
    }

    /// <summary>Reads positions. Created on first use, since for many phrases no entry has all words.</summary>
    private PhraseFinder Finder => _opened ??= new PhraseFinder(Context, _byCost, _matcher);

    /// <summary>
    /// An eighth of the expected number of entries with all words if these were independent is likely. Underestimates on
    /// purpose: finding a match costs more than scoring it, so bounds pay late.
    /// </summary>
    private static MatchEstimate Estimated(long entryCount, TermOperator[] rarestFirst)
    {
        long most = rarestFirst[0].Estimate;
        double entries = Math.Max(1, entryCount), likely = entries;
        foreach (TermOperator term in rarestFirst)
            likely *= term.Estimate / entries;
        return new MatchEstimate(most, Math.Min(most, likely) / 8, IsExact: most == 0);
    }

    public override PlanNode Describe()
    {
        var node = new PlanNode("phrase", _terms[0].Field, _matcher.Distance);
        foreach (TermOperator term in _terms)
            node.Over(term.Describe());
        return node;
    }

    public override long Next(long from)
    {
        bool isNext = from == _last + 1;
        if (_ahead is null || !_ahead.TryNext(ref from))
            from = isNext && from == 0 ? FirstOfWords() : NextOfWords(from);
        _expected = isNext ? from : -1;
        return from;
    }

    public override void Fill(long window, WindowSet set)
    {
        if (IsKnown(window, threshold: 0))
        {
            set.SetOffsets(_ahead!.Found); // not null if the window is known
            return;
        }

        FillWords(window, set);
        Verify(window, set);
    }

    // _ahead is not null if the window is known
    public override int Count(long window) =>
        IsKnown(window, threshold: 0) ? _ahead!.Found.Length : base.Count(window);

    public override void Combine(long window, WindowSet set, SetOperation operation)
    {
        if (operation != SetOperation.And)
        {
            base.Combine(window, set, operation);
            return;
        }

        for (int i = 0; i < _byCost.Length && !set.IsEmpty; i++)
            _byCost[i].And(window, set);
        Verify(window, set);
    }

    public override bool Contains(long id)
    {
        foreach (TermOperator term in _byCost)
        {
            if (!term.Contains(id))
                return false;
        }

        return Finder.FrequencyOf(id) > 0;
    }

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
        if (_factors is null)
        {
            base.Score(window, hits, scores, boost, allMatch);
            return;
        }

        if (allMatch)
        {
            ScoreMatches(window, hits, scores, boost, _factors);
            return;
        }

        WindowSet mine = Context.Rent();
        mine.SetOffsets(hits);
        And(window, mine);
        for (int i = 0; i < hits.Length; i++)
        {
            if (!mine.Contains(hits[i]))
                continue;
            float frequency = Finder.Frequencies[hits[i]];
            scores[i] += boost * _idf * frequency / (frequency + _factors.Of((window << PostingWindow.SizeBits) + hits[i]));
        }

        Context.Return(mine);
    }

    private void ScoreMatches(
        long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, LengthFactors factors)
    {
        WindowFactors lengths = factors.OfWindow(window);
        if (_ahead is not null && _ahead.TryFind(window, wantsAll: false))
        {
            ReadOnlySpan<ushort> found = _ahead.Found;
            ReadOnlySpan<float> frequencies = _ahead.Frequencies;
            for (int i = 0, place = 0; i < hits.Length; i++)
            {
                while (found[place] < hits[i])
                    place++;
                scores[i] += boost * _idf * frequencies[place] / (frequencies[place] + lengths[hits[i]]);
            }

            return;
        }

        Finder.Look(window, hits);
        for (int i = 0; i < hits.Length; i++)
        {
            float frequency = Finder.Frequencies[hits[i]];
            scores[i] += boost * _idf * frequency / (frequency + lengths[hits[i]]);
        }
    }

    public override void Bounds(Span<float> windows, float boost)
    {
        _byCost[0].PartBounds(windows);
        Span<float> others = Context.RentNumbers(windows.Length).AsSpan(0, windows.Length);
        for (int term = 1; term < _byCost.Length; term++)
        {
            _byCost[term].PartBounds(others);
            for (int i = 0; i < windows.Length; i++)
                windows[i] = Math.Min(windows[i], others[i]);
        }

        float weight = _factors is null ? boost : boost * _idf;
        if (_words is not null)
            _known = Context.RentNumbers(_knownCount = windows.Length);
        for (int i = 0; i < windows.Length; i++)
        {
            float part = windows[i] < 0 ? NoMatch : _factors is not null && _isExact ? Math.Min(1, windows[i]) : 1;
            windows[i] = part < 0 ? NoMatch : weight * part;
            if (_known is not null)
                _known[i] = part < 0 ? NoMatch : _idf * part;
        }
    }

    public override void AddBounds(long window, Span<float> bounds, float boost, EntryBounds? byEntry)
    {
        Debug.Assert(bounds.Length == PostingWindow.Blocks, "each block gets a bound");
        if (_ahead is not null && _ahead.TryFind(window, wantsAll: false) && _ahead.Found.Length <= FewFound)
        {
            AddFound(window, bounds, boost);
            return;
        }

        Span<float> least = stackalloc float[PostingWindow.Blocks];
        Span<float> parts = stackalloc float[PostingWindow.Blocks];
        least.Fill(1);
        foreach (TermOperator term in _factors is not null && _isExact ? _byCost : [])
        {
            term.Parts(window, parts);
            for (int i = 0; i < parts.Length; i++)
                least[i] = Math.Min(least[i], parts[i]);
        }

        float weight = _factors is null ? boost : boost * _idf;
        BoundKernels.AddScaled(bounds, least, weight);
    }

    /// <summary>
    /// If matches need not be counted, reads positions only for entries in blocks whose bounds reach the threshold.
    /// </summary>
    public override int Select(long window, WindowSet set, float threshold, bool counts)
    {
        if (counts || threshold <= 0 || _factors is null)
            return base.Select(window, set, threshold, counts);

        if (IsKnown(window, threshold))
        {
            set.SetOffsets(_ahead!.Found); // not null if the window is known
            return set.Count;
        }

        FillWords(window, set);
        NarrowByBlocks(window, set, threshold);
        Verify(window, set);
        return set.Count;
    }

    /// <summary>Keeps the entries in blocks whose bounds reach the threshold.</summary>
    private void NarrowByBlocks(long window, WindowSet set, float threshold)
    {
        if (set.IsEmpty)
            return;
        Span<float> bounds = stackalloc float[PostingWindow.Blocks];
        bounds.Clear();
        AddBounds(window, bounds, 1, byEntry: null);
        if (set.Form == WindowSetForm.List)
        {
            set.Narrow(bounds, threshold, Bm25.BoundMargin);
        }
        else
        {
            Span<ulong> words = stackalloc ulong[BitmapKernels.Words];
            set.CopyWords(words);
            BoundKernels.Narrow(words, bounds, threshold, Bm25.BoundMargin);
            set.Combine(SetOperation.And, words);
        }
    }

    /// <summary>Returns the first window with the leading words, and prepares to visit all windows in order.</summary>
    private long FirstOfWords()
    {
        if (_words is null)
            return NextOfWords(0);
        _words.Begin();
        return _words.Next(0);
    }

    /// <summary>Returns the first window at or after <paramref name="from"/> that has all words.</summary>
    private long NextOfWords(long from) => NextOfAll<TermOperator>(_byCost, from);

    /// <summary>
    /// As <see cref="NextOfWords"/>; if bounds of windows are known, returns the first window not yet requested whose bound
    /// reaches the threshold.
    /// </summary>
    private long NextToAsk(long from, float threshold)
    {
        if (_known is null)
            return NextOfWords(from);
        for (long window = from; window < _knownCount; window++)
        {
            if (IsToAsk(window, threshold))
                return window;
        }

        return End;
    }

    /// <summary>
    /// Whether a window was not requested yet and may have a hit that reaches the threshold; true if bounds are not known.
    /// </summary>
    private bool IsToAsk(long window, float threshold) =>
        _known is null || (_known[(int)window] >= 0 && _known[(int)window] * Bm25.BoundMargin >= threshold);

    /// <summary>
    /// Whether the window's matches that may reach the threshold are known. If windows are requested in order, computes them
    /// for several windows at once.
    /// </summary>
    private bool IsKnown(long window, float threshold)
    {
        if (_words is null)
            return false;
        bool isKnown = _ahead is not null && _ahead.TryFind(window, wantsAll: threshold <= 0);
        if (!isKnown
            && window > _last
            && _ahead?.Covers(window, wantsAll: threshold <= 0) != true
            && (window == _expected || NextToAsk(_last + 1, threshold) == window))
        {
            _ahead ??= new PhraseAhead(Context, Finder.Masks, Finder, _factors);
            LookAhead(window, threshold);
            isKnown = _ahead.TryFind(window, wantsAll: threshold <= 0);
        }

        _last = window;
        if (_known is not null)
            _known[(int)window] = NoMatch;
        return isKnown;
    }

    private void LookAhead(long window, float threshold)
    {
        Debug.Assert(_ahead is not null && _words is not null, "windows are looked at ahead only for a phrase of exact distance");
        (PhraseAhead ahead, PhraseWords words) = (_ahead!, _words!); // checked by the caller
        bool isWhole = threshold <= 0;
        ahead.Begin(window, isWhole);
        words.Begin();
        long next = words.Next(window);
        for (; next != End && ahead.HasRoom; next = words.Next(next + 1))
        {
            if (IsToAsk(next, threshold))
                Add(next, threshold);
            else if (isWhole)
                ahead.AddOpen(next);
        }

        foreach (TermOperator term in words.Others)
            ahead.Masks.Keep(term);
        ahead.Find(end: next);
    }

    /// <summary>Finds the entries of a window with the leading words and adds them for testing.</summary>
    private void Add(long window, float threshold)
    {
        (PhraseAhead ahead, PhraseWords words) = (_ahead!, _words!); // checked by the caller
        int count = words.Meet(window, ahead.Masks.Room);
        if (threshold > 0 && count != 0)
        {
            Span<float> bounds = stackalloc float[PostingWindow.Blocks];
            bounds.Clear();
            AddBounds(window, bounds, 1, byEntry: null);
            if (count != PhraseWords.Many)
            {
                count = OffsetKernels.Narrow(ahead.Masks.Room[..count], bounds, threshold, Bm25.BoundMargin);
            }
            else
            {
                BoundKernels.Narrow(words.Bits, bounds, threshold, Bm25.BoundMargin);
                if (!PhraseFinder.IsForPairs(BitmapKernels.Count(words.Bits)))
                    count = BitmapKernels.Decode(words.Bits, ahead.Masks.Room);
            }
        }

        if (count == PhraseWords.Many)
        {
            ahead.AddOpen(window);
            return;
        }

        if (count > 0)
            words.ExpectPositions(window);
        ahead.Add(window, count);
    }

    /// <summary>Adds the exact scores of the known matches to the bounds.</summary>
    private void AddFound(long window, Span<float> bounds, float boost)
    {
        Debug.Assert(_ahead is not null && _ahead.Found.Length <= FewFound, "few entries are scored one by one");
        ReadOnlySpan<ushort> found = _ahead!.Found; // checked by the caller
        Span<float> scores = stackalloc float[FewFound];
        scores.Clear();
        if (_factors is null)
            scores[..found.Length].Fill(boost);
        else if (found.Length > 0)
            ScoreMatches(window, found, scores, boost, _factors);
        Span<float> most = stackalloc float[PostingWindow.Blocks];
        most.Clear();
        for (int i = 0; i < found.Length; i++)
        {
            ref float bound = ref most[found[i] >> PostingWindow.BlockBits];
            bound = Math.Max(bound, scores[i]);
        }

        BoundKernels.AddScaled(bounds, most, 1);
    }

    /// <summary>Replaces the set by the entries that have all words.</summary>
    private void FillWords(long window, WindowSet set)
    {
        _byCost[0].Fill(window, set);
        for (int i = 1; i < _byCost.Length && !set.IsEmpty; i++)
            _byCost[i].And(window, set);
    }

    /// <summary>Keeps the entries that contain the phrase, of those that have all its words.</summary>
    private void Verify(long window, WindowSet set)
    {
        if (set.IsEmpty)
            return;
        if (set.Form == WindowSetForm.List)
        {
            Finder.Look(window, set.List);
        }
        else
        {
            Span<ulong> asked = stackalloc ulong[BitmapKernels.Words];
            set.CopyWords(asked);
            Finder.Look(window, asked);
        }

        set.Combine(SetOperation.And, Finder.Matched);
    }
}
