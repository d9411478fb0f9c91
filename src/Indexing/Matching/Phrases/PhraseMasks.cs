using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// Finds by masks of places (<see cref="PositionKernels"/>) which entries of some windows may have a phrase, and from where on:
/// term by term, each is read of the entries that are left. What has to be read for one term is asked for in all windows before
/// the first of it is looked at.
/// </summary>
internal sealed class PhraseMasks
{
    /// <summary>Most windows.</summary>
    public const int MaxWindows = 64;

    /// <summary>So many entries are taken beside those of a whole window.</summary>
    public const int ManyEntries = PostingWindow.Size;

    private const int RoomEntries = PostingWindow.Size + ManyEntries;

    /// <summary>The two rarest words are read together: one alone leaves hardly any entry out.</summary>
    private const int FirstTerms = 2;

    private readonly QueryContext context;
    private readonly TermOperator[] terms;
    private readonly int[] order;
    private readonly int[][] places;
    private readonly int slop;
    private readonly long[] windows = new long[MaxWindows];
    private readonly int[] ends = new int[MaxWindows + 1];
    private readonly ushort[] entries;
    private ulong[]? begins;
    private ulong[]? masks;
    private byte[]? isLong;
    private byte[]? areLong;

    /// <param name="context">The query.</param>
    /// <param name="terms">The different terms.</param>
    /// <param name="order">In which order they are read.</param>
    /// <param name="places">By term, its places in the phrase.</param>
    /// <param name="slop">How far words may be from their places: below <see cref="PositionKernels.MaskBits"/>.</param>
    public PhraseMasks(QueryContext context, TermOperator[] terms, int[] order, int[][] places, int slop)
    {
        this.context = context;
        this.terms = terms;
        this.order = order;
        this.places = places;
        this.slop = slop;
        entries = context.RentOffsets(RoomEntries);
    }

    /// <summary>Windows that were added.</summary>
    public int WindowCount { get; private set; }

    /// <summary>Their entries, all together.</summary>
    public int EntryCount => ends[WindowCount];

    /// <summary>Room for the entries of the next window.</summary>
    public Span<ushort> Room => entries.AsSpan(EntryCount);

    /// <summary>Forgets all windows.</summary>
    public void Clear() => WindowCount = 0;

    /// <summary>Adds a window, the entries of which have all words, ascend, and stand in <see cref="Room"/>.</summary>
    public void Add(long window, int count)
    {
        windows[WindowCount] = window;
        ends[WindowCount + 1] = EntryCount + count;
        WindowCount++;
    }

    /// <summary>Takes out the entries that do not have a term.</summary>
    public void Keep(TermOperator term)
    {
        Span<long> asked = stackalloc long[MaxWindows];
        int count = 0;
        for (int i = 0; i < WindowCount; i++)
        {
            asked[count] = windows[i];
            count += ends[i] < ends[i + 1] ? 1 : 0;
        }

        term.ExpectEach(asked[..count]);
        for (int i = 0; i < WindowCount; i++)
        {
            if (ends[i] < ends[i + 1])
                term.Expect(windows[i], entries.AsSpan(ends[i]..ends[i + 1]));
        }

        int start = 0, kept = 0;
        for (int i = 0; i < WindowCount; i++)
        {
            Span<ushort> mine = entries.AsSpan(start..ends[i + 1]);
            start = ends[i + 1];
            int stay = mine.IsEmpty ? 0 : term.Keep(windows[i], mine, wanted: true);
            if (stay > 0)
                term.ExpectPositions(windows[i]);
            mine[..stay].CopyTo(entries.AsSpan(kept));
            ends[i + 1] = kept += stay;
        }
    }

    /// <summary>Leaves those entries that may have the phrase.</summary>
    public void Run()
    {
        begins ??= context.RentWords(RoomEntries);
        masks ??= context.RentWords(RoomEntries);
        isLong ??= context.RentBytes(RoomEntries);
        areLong ??= context.RentBytes(RoomEntries);
        begins.AsSpan(0, EntryCount).Fill(ulong.MaxValue);
        areLong.AsSpan(0, EntryCount).Clear();
        for (int from = 0, end = Math.Min(FirstTerms, order.Length); from < order.Length && EntryCount > 0; from = end, end++)
        {
            foreach (int term in order.AsSpan(from..end))
                Locate(terms[term]);
            foreach (int term in order.AsSpan(from..end))
                Narrow(term, EntryCount);
            Shrink();
        }
    }

    /// <summary>The entries of a window that are left.</summary>
    public ReadOnlySpan<ushort> Entries(int window) => entries.AsSpan(ends[window]..ends[window + 1]);

    /// <summary>By entry that is left, the places from where on it may have the phrase.</summary>
    public ReadOnlySpan<ulong> Begins(int window) => begins.AsSpan(ends[window]..ends[window + 1]);

    /// <summary>
    /// By entry that is left, 1 where that is not sure: it has one of the words behind the places that masks tell apart.
    /// </summary>
    public ReadOnlySpan<byte> AreLong(int window) => areLong.AsSpan(ends[window]..ends[window + 1]);

    private void Locate(TermOperator term)
    {
        for (int i = 0; i < WindowCount; i++)
        {
            if (ends[i] < ends[i + 1])
                term.LocatePositions(windows[i], entries.AsSpan(ends[i]..ends[i + 1]));
        }
    }

    private void Narrow(int term, int count)
    {
        Span<ulong> left = begins.AsSpan(0, count), mine = masks.AsSpan(0, count);
        Span<byte> areLong = this.areLong.AsSpan(0, count), isLong = this.isLong.AsSpan(0, count);
        terms[term].ReadMasks(mine, isLong);
        foreach (int place in places[term])
        {
            if (slop == 0)
                PositionKernels.Narrow(left, mine, isLong, place);
            else
                PositionKernels.NarrowNear(left, mine, place, slop);
        }

        for (int i = 0; i < count; i++)
            areLong[i] |= isLong[i];
    }

    /// <summary>Takes out the entries from nowhere in which the phrase may begin.</summary>
    private void Shrink()
    {
        (ulong[] begins, byte[] areLong) = (this.begins!, this.areLong!); // Run rents them
        int left = 0;
        for (int window = 0, i = 0; window < WindowCount; window++)
        {
            for (int end = ends[window + 1]; i < end; i++)
            {
                (entries[left], begins[left], areLong[left]) = (entries[i], begins[i], areLong[i]);
                left += begins[left] != 0 ? 1 : 0;
            }

            ends[window + 1] = left;
        }
    }
}
