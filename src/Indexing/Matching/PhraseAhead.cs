using System.Numerics;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Finds where a phrase stands in the window that is asked for and in some that will be asked for next, all together: nearly all of the time goes into waiting for memory that lies somewhere else
/// for each window, and so these waits overlap. What was found is kept until others are looked at. Words stand at fixed places to each other here.
/// </summary>
/// <param name="context">The query.</param>
/// <param name="masks">Tests entries by masks.</param>
/// <param name="finder">Tests those of which masks do not say all, and windows in which very many entries have all words.</param>
internal sealed class PhraseAhead(QueryContext context, PhraseMasks masks, PhraseFinder finder)
{
    private const int RoomEntries = PostingWindow.Size + PhraseMasks.ManyEntries;

    private readonly long[] windows = new long[PhraseMasks.MaxWindows];
    private readonly bool[] areOpen = new bool[PhraseMasks.MaxWindows];
    private readonly int[] ends = new int[PhraseMasks.MaxWindows + 1];
    private readonly ushort[] found = context.RentOffsets(RoomEntries);
    private readonly float[] frequencies = context.RentNumbers(RoomEntries);
    private int count;
    private int current;
    private bool isWhole;

    /// <summary>Whether there is room for another window.</summary>
    public bool HasRoom => count < PhraseMasks.MaxWindows && masks.EntryCount < PhraseMasks.ManyEntries;

    /// <summary>Tests the entries of windows.</summary>
    public PhraseMasks Masks => masks;

    /// <summary>Of the window it stands on, the entries that have the phrase.</summary>
    public ReadOnlySpan<ushort> Found => found.AsSpan(ends[current]..ends[current + 1]);

    /// <summary>How often each of these has it.</summary>
    public ReadOnlySpan<float> Frequencies => frequencies.AsSpan(ends[current]..ends[current + 1]);

    /// <summary>Forgets what was found, and goes on with other windows.</summary>
    /// <param name="isWhole">Whether all entries that have all words will be looked at.</param>
    public void Begin(bool isWhole)
    {
        this.isWhole = isWhole;
        count = current = 0;
        masks.Clear();
    }

    /// <summary>Adds a window, later than those before, with entries that have the words that are looked for first.</summary>
    public void Add(long window, WindowSet entries)
    {
        int members = entries.Count;
        windows[count] = window;
        areOpen[count] = PhraseFinder.IsForPairs(members);
        masks.Add(window, areOpen[count] ? 0 : entries.CopyTo(masks.Room));
        count++;
    }

    /// <summary>Finds the phrase in the windows added.</summary>
    public void Find()
    {
        context.Meter.Count.EntriesScanned += masks.EntryCount;
        masks.Run();
        int end = 0;
        for (int i = 0; i < count; i++)
        {
            ReadOnlySpan<ushort> left = masks.Entries(i);
            ReadOnlySpan<ulong> begins = masks.Begins(i);
            ReadOnlySpan<byte> areLong = masks.AreLong(i);
            for (int entry = 0; entry < left.Length; entry++)
            {
                found[end] = left[entry];
                frequencies[end] = areLong[entry] != 0 ? finder.FrequencyOf((windows[i] << PostingWindow.SizeBits) + left[entry]) : BitOperations.PopCount(begins[entry]);
                end += frequencies[end] > 0 ? 1 : 0;
            }

            ends[i + 1] = end;
        }
    }

    /// <summary>Whether a window is among those that were looked at, or before one of them.</summary>
    public bool Covers(long window, bool wantsAll) => count > 0 && (isWhole || !wantsAll) && window >= windows[0] && window <= windows[count - 1];

    /// <summary>Goes to a window, if it is known what it has; where not all entries were looked at, only if that is enough.</summary>
    public bool TryFind(long window, bool wantsAll)
    {
        if (!Covers(window, wantsAll))
            return false;
        while (windows[current] > window)
            current--;
        while (windows[current] < window)
            current++;
        return windows[current] == window && !areOpen[current];
    }

    /// <summary>The first window from one on that may have the phrase, or a later one than all that are known; false where nothing is known of it.</summary>
    public bool TryNext(ref long from)
    {
        if (!Covers(from, wantsAll: true))
            return false;
        for (int i = 0; i < count; i++)
        {
            if (windows[i] < from || (ends[i] == ends[i + 1] && !areOpen[i]))
                continue;
            from = windows[i];
            return true;
        }

        from = windows[count - 1] + 1;
        return false;
    }
}
