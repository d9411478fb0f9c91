using System.Diagnostics;
using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.TopK;

/// <summary>
/// Finds the best hits of lists with many entries per window by block-max scores (Ding and Suel 2011). First adds up, for
/// each block of 64 entries of the index, the most an entry in it can score. Then scores blocks in descending order of these
/// bounds, a few at a time, so that bitmaps, frequencies and lengths are read for few blocks only. Blocks are of entries,
/// not of postings, so the blocks of all lists coincide.
/// </summary>
/// <remarks>Memory until the query ends: 139 bytes per window.</remarks>
internal sealed class BlockSearch(TopKHits hits, int[] lists, bool isAll, bool needsTwo)
{
    private const int Blocks = PostingWindow.Blocks;

    /// <summary>The first level is chosen so that about this many windows reach it.</summary>
    private const int FirstWindows = 32;

    /// <summary>Number of leading bits of a level used to choose the first one.</summary>
    private const int FirstBits = 8;

    /// <summary>Maximum number of passes, each with a lower level; the last one covers all remaining blocks.</summary>
    private const int MostLevels = 10;

    /// <summary>
    /// The minimum difference between successive levels, and the difference used while there is no score to beat.
    /// </summary>
    private const int LeastStep = LevelKernels.Greatest / 64, PlainStep = 2 * LeastStep;

    /// <summary>The level is lowered by this fraction of its distance to the score to beat.</summary>
    private const int StepPart = 4;

    /// <summary>Above this many candidates of a window, check the upper bound of each before scoring it.</summary>
    private const int ManyHits = 24;

    private readonly QueryContext _context = hits.Context;
    private readonly TopKTerm[] _terms = [.. lists.Select(list => hits.Plan.Terms[list])];
    private readonly WindowSet _set = hits.Context.Rent();
    private readonly ushort[] _entries = hits.Context.RentOffsets();
    private readonly float[] _scores = hits.Context.RentNumbers(PostingWindow.Size);
    private readonly int[] _at = new int[lists.Length];
    private readonly ushort[] _weights = new ushort[lists.Length];
    private readonly float _constant = lists.Sum(list => hits.Plan.Terms[list].Scorer is null ? hits.Plan.Terms[list].Boost : 0);

    /// <summary>Indexes of the lists in the order of the plan.</summary>
    private readonly int[] _inOrder = [.. Enumerable.Range(0, lists.Length).OrderBy(place => lists[place])];
    private float[]? _parts;
    private EntryBounds? _entryBounds;
    private double _scale;

    // For each window that may have hits: its number, the levels of its blocks (0 once a block is scored), the greatest of
    // these, and whether the window was visited.
    private ulong[] _windows = [];
    private ushort[] _levels = [];
    private ushort[] _greatest = [];
    private byte[] _seen = [];
    private int _windowCount;

    /// <summary>Lists whose entries are skipped because they were already processed.</summary>
    public TopKTerm[] Excluded { get; init; } = [];

    /// <summary>The score that the scored lists must give a hit.</summary>
    private float Least => hits.ListThreshold - _constant;

    /// <summary>The minimum level of a block that can contain one of the best hits.</summary>
    private int Needed => hits.Threshold > 0 ? (int)Math.Clamp(Math.Ceiling(Least * _scale), 1, ushort.MaxValue + 1) : 1;

    /// <summary>
    /// Offers the best hits. Returns the number of hits if they are counted, which is only possible if all lists must match.
    /// </summary>
    public long Run(bool counts)
    {
        Weigh();
        long total = isAll ? LookAtAll(counts) : LookAtAny();
        RankLevels(_greatest.AsSpan(0, _windowCount));
        hits.WindowsBelowBound += _windowCount - _seen.AsSpan(0, _windowCount).Count((byte)1);
        _context.Return(_set);
        return total;
    }

    /// <summary>
    /// Computes the weight by which each list's impacts are multiplied to give levels, scaled so that neither the sum over
    /// all lists nor a single weight overflows.
    /// </summary>
    private void Weigh()
    {
        Debug.Assert(_terms.Length > 0 && _weights.Length == _terms.Length, "each list has a weight");
        double sum = 0;
        foreach (TopKTerm term in _terms)
            sum += term.Unit * (double)(1 << LevelKernels.FractionBits);
        _scale = (LevelKernels.Greatest - (2 * _weights.Length)) / sum; // per list, a weight and a product are rounded up
        for (int i = 0; i < _weights.Length; i++)
            _weights[i] = (ushort)Math.Ceiling(_terms[i].Unit * _scale * (1 << LevelKernels.FractionBits));
    }

    private void Rent(int most)
    {
        _windows = _context.RentWords(most);
        _levels = _context.RentOffsets(most * Blocks);
        _greatest = _context.RentOffsets(most);
        _seen = _context.RentBytes(most);
        _seen.AsSpan(0, most).Clear();
    }

    /// <summary>
    /// Computes the levels of the blocks of all windows that all lists have. Returns the number of hits if they are counted.
    /// </summary>
    private long LookAtAll(bool counts)
    {
        int rarest = 0;
        for (int i = 1; i < _terms.Length; i++)
            rarest = _terms[i].List.Windows < _terms[rarest].List.Windows ? i : rarest;
        PostingList lead = _terms[rarest].List;
        Rent(lead.Windows);
        long total = 0;
        for (int place = 0; place < lead.Windows; place++)
        {
            if ((place & 63) == 0)
                _context.Check();
            if (!StepTo(lead[place].Window, counts))
                continue;
            AddLevels(lead[place].Window);
            total += counts ? Count(lead[place].Window) : 0;
        }

        return total;
    }

    private bool StepTo(long window, bool counts)
    {
        const int Ahead = 3;
        for (int i = 0; i < _terms.Length; i++)
        {
            PostingList list = _terms[i].List;
            ref int place = ref _at[i];
            place = list.Step(place, window);
            if (list[place].Window != window)
                return false;
            if (place + Ahead < list.Windows)
                list[place + Ahead].PrefetchImpacts(withIds: counts);
        }

        return true;
    }

    /// <summary>Computes the levels of the blocks of all windows that enough lists have.</summary>
    private long LookAtAny()
    {
        int most = 0;
        foreach (TopKTerm term in _terms)
            most += term.List.Windows;
        Rent((int)Math.Min(most, _context.View.WindowCount));
        for (long window = 0; ; window++)
        {
            window = TopKTerm.StepAny(_terms, _at, window);
            if (window == PostingList.End)
                return 0;
            if ((_windowCount & 63) == 0)
                _context.Check();
            int here = 0;
            for (int i = 0; i < _terms.Length; i++)
                here += Held(i).Window == window ? 1 : 0;
            if (here > 1 || !needsTwo)
                AddLevels(window);
        }
    }

    private void AddLevels(long window)
    {
        Debug.Assert(_windowCount < _windows.Length, "there is room for the window");
        Span<ushort> mine = LevelsOf(_windowCount);
        mine.Clear();
        ushort largest = 0;
        for (int i = 0; i < _terms.Length; i++)
        {
            ref readonly HeldWindow held = ref _terms[i].List[_at[i]];
            if (_weights[i] > 0 && held.Window == window)
                largest = LevelKernels.Add(held.Postings.Impacts, _weights[i], mine);
        }

        _greatest[_windowCount] = largest;
        _windows[_windowCount++] = (ulong)window;
    }

    /// <summary>Scores blocks level by level, as long as one of the best hits may be in them.</summary>
    private void RankLevels(ReadOnlySpan<ushort> all)
    {
        int level = FirstLevel(all);
        Debug.Assert(level is > 0 and <= ushort.MaxValue, "a level of 0 is of blocks that are done");
        for (int pass = 1; ; pass++)
        {
            level = Math.Max(pass == MostLevels ? 1 : level, Needed);
            for (int place = 0; level <= ushort.MaxValue && place < all.Length; place++)
            {
                int next = all[place..].IndexOfAnyInRange((ushort)level, ushort.MaxValue);
                if (next < 0)
                    break;
                place += next;
                if (all[(place + 1)..].IndexOfAnyInRange((ushort)level, ushort.MaxValue) is >= 0 and int behind)
                    Prefetch((long)_windows[place + 1 + behind]);
                Visit(place, (ushort)level);
                level = Math.Max(level, Needed);
            }

            int needed = Needed;
            if (level <= needed)
                return;
            level -= needed == 1 ? PlainStep : Math.Max(LeastStep, (level - needed) / StepPart);
        }
    }

    /// <summary>Returns the highest level that enough windows reach.</summary>
    private static int FirstLevel(ReadOnlySpan<ushort> all)
    {
        Span<int> counts = stackalloc int[1 << FirstBits];
        counts.Clear();
        foreach (ushort window in all)
            counts[window >> (LevelKernels.Bits - FirstBits)]++;
        int level = counts.Length, reaching = 0;
        while (level > 0 && reaching < FirstWindows)
            reaching += counts[--level];
        return Math.Max(1, level << (LevelKernels.Bits - FirstBits));
    }

    private void Prefetch(long window)
    {
        foreach (TopKTerm term in _terms)
        {
            if (term.List[term.List.PlaceOf(window)] is var held && held.Window == window)
                held.PrefetchIds();
        }
    }

    /// <summary>Offers the best hits in the blocks of a window that reach a level.</summary>
    private void Visit(int place, ushort level)
    {
        Debug.Assert((uint)place < (uint)_windowCount && level > 0, "the window may have hits");
        _context.Check();
        long window = (long)_windows[place];
        for (int i = 0; i < _terms.Length; i++)
            _at[i] = _terms[i].List.PlaceOf(window);
        hits.WindowsScored += 1 - _seen[place];
        _seen[place] = 1;
        ulong blocks = LevelKernels.Take(LevelsOf(place), level, out _greatest[place]);
        Span<ulong> words = stackalloc ulong[Blocks];
        words.Clear();
        if (isAll)
            FillAll(window, blocks, words);
        else
            FillAny(window, blocks, words);
        foreach (TopKTerm term in Excluded)
        {
            ref readonly HeldWindow held = ref term.List[term.List.PlaceOf(window)];
            if (held.Window == window)
                Remove(in held, words);
        }

        int count = BitmapKernels.Count(words);
        bool isFiltered = count >= ManyHits && hits.FiltersFirst;
        if (isFiltered)
            count = Filter(window, words);
        if (count >= ManyHits && hits.Threshold > 0)
            Narrow(window, words);
        Span<ushort> mine = _entries.AsSpan(0, BitmapKernels.Decode(words, _entries));
        mine = isFiltered ? mine : hits.Filter(window, mine);
        if (mine.IsEmpty)
            return;
        Scored().Factors.Prefetch(window, mine);
        _context.Meter.Count.CandidatesScored += mine.Length;
        Offer(window, mine);
    }

    private TermScorer Scored()
    {
        foreach (TopKTerm term in _terms)
        {
            if (term.Scorer is { } scorer)
                return scorer;
        }

        throw new InvalidOperationException("A search for the best hits has no list that is scored.");
    }

    /// <summary>Writes the entries that all lists have, for some blocks.</summary>
    private void FillAll(long window, ulong blocks, Span<ulong> words)
    {
        bool areBitmaps = true;
        for (int i = 0; i < _terms.Length; i++)
            areBitmaps &= Held(i).Count >= PostingWindow.MinBitsCount;
        if (!areBitmaps)
        {
            Intersect();
            _set.CopyWords(words);
            for (int block = 0; block < Blocks; block++)
                words[block] = (blocks >> block & 1) == 0 ? 0 : words[block];
            return;
        }

        for (ulong left = blocks; left != 0; left &= left - 1)
            words[BitOperations.TrailingZeroCount(left)] = ulong.MaxValue;
        for (int i = 0; i < _terms.Length; i++)
        {
            ReadOnlySpan<ulong> mine = Held(i).Postings.Words;
            if (mine.IsEmpty)
                continue; // the window is full
            for (ulong left = blocks; left != 0; left &= left - 1)
            {
                int block = BitOperations.TrailingZeroCount(left);
                words[block] &= mine[block];
            }
        }
    }

    /// <summary>
    /// Writes the entries that enough lists have, for some blocks: those in all essential lists, without which the others
    /// cannot reach the threshold, and in at least two lists, or one if that suffices.
    /// </summary>
    private void FillAny(long window, ulong blocks, Span<ulong> words)
    {
        Span<ulong> all = stackalloc ulong[Blocks * _terms.Length];
        Span<float> bounds = stackalloc float[Blocks * _terms.Length];
        bounds.Clear();
        for (int i = 0; i < _terms.Length; i++)
        {
            Span<ulong> mine = all.Slice(i * Blocks, Blocks);
            if (Held(i).Window != window)
            {
                mine.Clear();
                continue;
            }

            PostingWindow postings = Held(i).Postings;
            postings.CopyWords(mine);
            if (postings.Impacts.Length == Blocks)
                BoundKernels.AddSpread(postings.Impacts, _terms[i].Unit, bounds.Slice(i * Blocks, Blocks));
            else
                bounds.Slice(i * Blocks, Blocks).Fill(_terms[i].Unit * postings.LargestImpact);
        }

        float least = hits.Threshold > 0 ? Least : float.NegativeInfinity;
        for (ulong left = blocks; left != 0; left &= left - 1)
        {
            int block = BitOperations.TrailingZeroCount(left);
            float sum = 0;
            for (int i = 0; i < _terms.Length; i++)
                sum += bounds[(i * Blocks) + block];
            ulong once = 0, twice = 0, required = ulong.MaxValue;
            for (int i = 0; i < _terms.Length; i++)
            {
                ulong mine = all[(i * Blocks) + block];
                twice |= once & mine;
                once |= mine;
                required &= (sum * Bm25.BoundMargin) - bounds[(i * Blocks) + block] < least ? mine : ulong.MaxValue;
            }

            words[block] = required & (needsTwo ? twice : once);
        }
    }

    private void Remove(in HeldWindow held, Span<ulong> words)
    {
        Span<ulong> mine = stackalloc ulong[Blocks];
        held.Postings.CopyWords(mine);
        for (int block = 0; block < Blocks; block++)
            words[block] &= ~mine[block];
    }

    /// <summary>Removes the entries that the filters exclude; returns how many are left.</summary>
    private int Filter(long window, Span<ulong> words)
    {
        _set.SetBits(MemoryMarshal.AsBytes(words));
        hits.Filter(window, _set);
        _set.CopyWords(words);
        return _set.Count;
    }

    /// <summary>Removes candidates whose own upper bound is below the threshold.</summary>
    private void Narrow(long window, Span<ulong> words)
    {
        _entryBounds ??= new EntryBounds(_context);
        _entryBounds.Begin(words);
        for (int i = 0; i < _terms.Length; i++)
        {
            if (_terms[i].Scorer is not { } scorer || Held(i).Window != window)
                continue;
            PostingWindow postings = Held(i).Postings;
            if (!_entryBounds.TryAdd(in postings, scorer, _terms[i].Boost))
                scorer.AddBounds(in postings, _entryBounds.Rest, scorer.Weight(_terms[i].Boost));
        }

        _entryBounds.Narrow(window, words, Least, 1);
    }

    /// <summary>Scores hits of a window and offers them.</summary>
    private void Offer(long window, ReadOnlySpan<ushort> mine)
    {
        long start = window << PostingWindow.SizeBits;
        Span<float> sums = _scores.AsSpan(0, mine.Length);
        if (hits.Plan.IsFlat)
        {
            sums.Clear();
            foreach (int list in _inOrder)
                Score(list, window, mine, sums);
            for (int i = 0; i < mine.Length; i++)
                hits.Offer(start + mine[i], sums[i]);
            return;
        }

        _parts ??= _context.RentNumbers(PostingWindow.Size * _terms.Length);
        for (int list = 0; list < _terms.Length; list++)
        {
            Span<float> each = _parts.AsSpan(list * mine.Length, mine.Length);
            each.Clear();
            Score(list, window, mine, each);
        }

        Span<float> ofLists = hits.Parts;
        ofLists.Clear();
        for (int i = 0; i < mine.Length; i++)
        {
            for (int list = 0; list < _terms.Length; list++)
                ofLists[lists[list]] = _parts[(list * mine.Length) + i];
            hits.Offer(start + mine[i], ofLists);
        }
    }

    private void Score(int list, long window, ReadOnlySpan<ushort> mine, Span<float> sums)
    {
        ref readonly HeldWindow held = ref Held(list);
        if (held.Window != window)
            return;
        PostingWindow postings = held.Postings;
        if (_terms[list].Scorer is { } scorer)
        {
            scorer.Score(window, in postings, mine, sums, _terms[list].Boost);
            return;
        }

        foreach (ref float sum in sums)
            sum += _terms[list].Boost; // lists are filters only if all must match
    }

    /// <summary>Counts the hits in the window on which all lists are positioned.</summary>
    private int Count(long window)
    {
        if (_terms.Length == 2 && hits.Plan.Filters.Count == 0)
        {
            PostingWindow one = Held(0).Postings, other = Held(1).Postings;
            if (one.Form == WindowSetForm.Bits && other.Form == WindowSetForm.Bits)
                return BitmapKernels.CountBoth(one.Words, other.Bitmap);
            if (one.Form == WindowSetForm.List && other.Form != WindowSetForm.List)
                return other.CountIn(one.Offsets);
            if (other.Form == WindowSetForm.List && one.Form != WindowSetForm.List)
                return one.CountIn(other.Offsets);
        }

        Intersect();
        hits.Filter(window, _set);
        return _set.Count;
    }

    private void Intersect()
    {
        _set.Set(Held(0).Postings);
        for (int i = 1; i < _terms.Length && !_set.IsEmpty; i++)
            _set.Combine(SetOperation.And, Held(i).Postings);
    }

    private ref readonly HeldWindow Held(int list) => ref _terms[list].List[_at[list]];

    private Span<ushort> LevelsOf(int place) => _levels.AsSpan(place * Blocks, Blocks);
}
