using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>Chooses what is done with each list of a query that is nothing but lists, by their lengths alone.</summary>
internal static class ListWays
{
    /// <summary>Most lists: each has its windows side by side.</summary>
    public const int MostLists = 32;

    /// <summary>Most entries of all merged lists, 2 bytes each: in a great index lists of few entries a window are long, too.</summary>
    public const long MostMerged = 1 << 20;

    /// <summary>From so many entries of the rarest list on it pays to know what those that are not merged can give.</summary>
    public const int ManyEntries = 512;

    /// <summary>Entries a window, over all windows of the index, up to which a list is merged: with twice as many, most of its windows are bitmaps.</summary>
    private const int MostPerWindow = 48;

    /// <summary>How many times the windows of the rarest list another one may have to be merged with it: with more, it is sought in those of the rarest.</summary>
    private const int MostWindowsRatio = 4;

    /// <summary>From this part of the windows of a longer list on, that are asked about, it is cheaper to go along it than to seek each.</summary>
    private const int PlacedRatio = 2;

    /// <summary>Most entries that a list has which is merged where that is cheaper.</summary>
    public static long MostEntries(long windows) => MostPerWindow * windows;

    /// <summary>Chooses.</summary>
    /// <param name="entries">By list, its entries. One of as few as a short list may have is merged with others that have to match: mostly it is decoded already.</param>
    /// <param name="windows">Windows of the index.</param>
    /// <param name="most">Entries up to which a list is merged, see <see cref="MostEntries"/>.</param>
    /// <param name="isAll">Whether all lists have to match.</param>
    /// <param name="ways">Gets the choice, by list.</param>
    public static void Choose(ReadOnlySpan<long> entries, long windows, long most, bool isAll, Span<ListWay> ways)
    {
        long least = long.MaxValue, merged = 0;
        foreach (long mine in entries)
            least = Math.Min(least, mine);
        for (int i = 0; i < ways.Length; i++)
        {
            bool isMerged = isAll
                ? entries[i] <= FlatPostings.MaxEntries || (entries[i] <= most && Math.Min(entries[i], windows) <= MostWindowsRatio * Math.Min(least, windows))
                : entries[i] <= most;
            ways[i] = isMerged ? ListWay.Merged : ListWay.Asked;
            merged += isMerged ? entries[i] : 0;
        }

        // All windows of the rarest list, or of the merged ones together, are asked about. A short list is decoded: it has no windows to go along.
        long asked = Math.Min(windows, isAll ? least : merged);
        for (int i = 0; i < ways.Length; i++)
        {
            if (ways[i] == ListWay.Asked && entries[i] > FlatPostings.MaxEntries && PlacedRatio * asked >= Math.Min(windows, entries[i]))
                ways[i] = ListWay.Placed;
        }
    }
}

/// <summary>What is done with a list.</summary>
internal enum ListWay
{
    /// <summary>Its entries are put side by side and merged with those of others.</summary>
    Merged,

    /// <summary>Its windows are found once, one after the other, and looked at where they lie.</summary>
    Placed,

    /// <summary>Windows of others are sought in it.</summary>
    Asked,
}
