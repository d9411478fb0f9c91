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

    private readonly QueryContext context;
    private readonly TermOperator[] terms;
    private readonly PhraseMatcher matcher;
    private readonly int[] order;
    private readonly int[][] places;
    private PositionList[] positions = [];
    private ulong[] known = [];
    private ulong[] matched = [];
    private float[] frequencies = [];
    private ushort[] entries = [];
    private PositionTable[]? tables;
    private WindowPlaces? first;
    private WindowPlaces? second;
    private long current = -1;

    /// <param name="context">The query.</param>
    /// <param name="terms">The different terms, opened with positions.</param>
    /// <param name="matcher">Tells phrases from words that stand apart.</param>
    public PhraseFinder(QueryContext context, TermOperator[] terms, PhraseMatcher matcher)
    {
        this.context = context;
        this.terms = terms;
        this.matcher = matcher;
        order = ByCost(terms);
        places = matcher.Places();
        Masks = new PhraseMasks(context, terms, order, places, matcher.Slop);
    }

    /// <summary>Tests entries by masks.</summary>
    public PhraseMasks Masks { get; }

    /// <summary>The entries of the current window that were looked at and have the phrase, as a bitmap.</summary>
    public ReadOnlySpan<ulong> Matched => matched;

    /// <summary>How often each of these has it.</summary>
    public ReadOnlySpan<float> Frequencies => frequencies;

    /// <summary>Looks at those entries of a window that were not looked at before; all have all words.</summary>
    /// <param name="window">The window.</param>
    /// <param name="asked">The entries, as a bitmap; scratch afterwards.</param>
    public void Look(long window, Span<ulong> asked)
    {
        Enter(window);
        int count = 0;
        for (int i = 0; i < asked.Length; i++)
        {
            asked[i] &= ~known[i];
            known[i] |= asked[i];
            count += BitOperations.PopCount(asked[i]);
        }

        if (count == 0)
            return;
        context.Meter.Count.EntriesScanned += count;
        FindMany(window, asked, count);
    }

    /// <summary>As <see cref="Look(long, Span{ulong})"/>, of few entries, which ascend.</summary>
    public void Look(long window, ReadOnlySpan<ushort> asked)
    {
        Enter(window);
        int count = 0;
        foreach (ushort entry in asked)
        {
            entries[count] = entry;
            ref ulong word = ref known[entry >> PostingWindow.BlockBits];
            ulong bit = 1UL << entry;
            count += (word & bit) == 0 ? 1 : 0;
            word |= bit;
        }

        context.Meter.Count.EntriesScanned += count;
        if (count < ManyEntries)
        {
            Find(window, entries.AsSpan(0, count));
            return;
        }

        Span<ulong> words = stackalloc ulong[BitmapKernels.Words];
        words.Clear();
        BitmapKernels.Set(words, entries.AsSpan(0, count));
        FindMany(window, words, count);
    }

    /// <summary>Whether so many entries of a window may be found at once, by laying out all of it.</summary>
    public static bool IsForPairs(int count) => count > FewEntries;

    /// <summary>How often one entry that has all words has the phrase.</summary>
    public float FrequencyOf(long id)
    {
        context.Meter.Count.EntriesScanned++;
        MakeLists();
        for (int i = 0; i < terms.Length; i++)
            positions[i].Set(terms[i].Positions(id));
        return matcher.Match(positions);
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
        if (positions.Length == 0)
            positions = [.. terms.Select(static _ => new PositionList())];
    }

    private void Enter(long window)
    {
        if (window == current)
            return;
        if (known.Length == 0)
        {
            known = new ulong[BitmapKernels.Words];
            matched = new ulong[BitmapKernels.Words];
            frequencies = context.RentNumbers(PostingWindow.Size);
            entries = context.RentOffsets();
        }

        Array.Clear(known);
        Array.Clear(matched);
        current = window;
    }

    private void FindMany(long window, Span<ulong> asked, int count)
    {
        if (matcher.Slop > 0
            || !TryFindPairs(window, asked, count)
            || terms.Length > 2
            || places[0].Length + places[1].Length > 2)
        {
            Find(window, entries.AsSpan(0, BitmapKernels.Decode(asked, entries)));
            return;
        }

        // The two words are all of it.
        for (int i = 0; i < asked.Length; i++)
            matched[i] |= asked[i];
    }

    private void Find(long window, Span<ushort> asked)
    {
        if (matcher.Slop == 0 || (matcher.Slop <= MostSlop && asked.Length >= ManyNear))
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
        if (terms.Length < 2)
            return false;
        TermOperator one = terms[order[0]], other = terms[order[1]];
        int ofOne = one.PlacesIn(window), ofOther = other.PlacesIn(window);
        if (ofOne == 0 || ofOther == 0 || (long)count * EntryCost < ofOne + ofOther)
            return false;
        first ??= Rent();
        second ??= Rent();
        if (!one.TryCopyPlaces(window, first) || !other.TryCopyPlaces(window, second))
            return false;
        PairKernels.Find(asked, first.Places, second.Places, places[order[1]][0] - places[order[0]][0], frequencies);
        return true;
    }

    private WindowPlaces Rent() =>
        new(
            context.RentWords(BitmapKernels.Words), context.RentBytes(WindowPlaces.StartBytes),
            context.RentBytes(WindowPlaces.RoomBytes));

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
            if (areLong[i] != 0 || matcher.Slop > 0)
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
        tables ??= [.. terms.Select(static _ => new PositionTable())];
        for (int i = 0; i < terms.Length; i++)
            terms[i].CopyPositions(window, asked, tables[i]);
        for (int place = 0; place < asked.Length; place++)
        {
            for (int i = 0; i < terms.Length; i++)
                positions[i].Set(tables[i], place);
            float frequency = matcher.Match(positions);
            if (frequency > 0)
                Add(asked[place], frequency);
        }
    }

    private void Add(ushort entry, float frequency)
    {
        matched[entry >> PostingWindow.BlockBits] |= 1UL << entry;
        frequencies[entry] = frequency;
    }
}
