namespace Treepie.Bench.Micro;

/// <summary>Ascending numbers without duplicates, the same in every run.</summary>
internal static class Sorted
{
    /// <summary>Draws <paramref name="count"/> numbers from 0 to below <paramref name="range"/>.</summary>
    public static long[] Ids(int count, int range)
    {
        var random = new Random(count + range);
        var set = new SortedSet<long>();
        while (set.Count < count)
            set.Add(random.Next(range));
        return [.. set];
    }

    /// <summary>Draws <paramref name="count"/> offsets in a window of 4,096 entries.</summary>
    /// <param name="count">How many.</param>
    /// <param name="seed">Which of the sets of so many.</param>
    public static ushort[] Offsets(int count, int seed = 0)
    {
        ushort[] all = [.. Enumerable.Range(0, 4096).Select(offset => (ushort)offset)];
        new Random(count + (seed * 4096)).Shuffle(all);
        ushort[] drawn = all[..count];
        Array.Sort(drawn);
        return drawn;
    }
}
