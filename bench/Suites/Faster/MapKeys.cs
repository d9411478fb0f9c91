namespace Treepie.Bench.Suites.Faster;

/// <summary>
/// Keys in the order in which they are asked for: all alike often, or by Zipf's law with the exponent 0.99 of YCSB. As there, the
/// n-th key is a hash of n: keys that count up would be a gift to maps whose hash is the key itself.
/// </summary>
internal static class MapKeys
{
    /// <summary>What the value of a key always is.</summary>
    public static long ValueOf(long key) => (key * 3) + 1;

    /// <summary>The key of a number, one to one.</summary>
    public static long Key(long number)
    {
        ulong key = (ulong)number + 0x9E37_79B9_7F4A_7C15;
        key = (key ^ (key >> 30)) * 0xBF58_476D_1CE4_E5B9;
        key = (key ^ (key >> 27)) * 0x94D0_49BB_1331_11EB;
        return (long)(key ^ (key >> 31));
    }

    /// <summary>Keys drawn alike.</summary>
    public static long[] Uniform(int seed, long keys, int count)
    {
        var random = new Random(seed);
        long[] drawn = new long[count];
        for (int i = 0; i < count; i++)
            drawn[i] = Key(random.NextInt64(keys));
        return drawn;
    }

    /// <summary>
    /// Keys drawn by Zipf's law (the method of Gray and others that YCSB uses); the frequent ones lie scattered among all.
    /// </summary>
    public static long[] Zipf(int seed, long keys, int count)
    {
        long[] drawn = ZipfNumbers(seed, keys, count);
        for (int i = 0; i < drawn.Length; i++)
            drawn[i] = Key(drawn[i]);
        return drawn;
    }

    /// <summary>Numbers by Zipf's law, the most frequent first.</summary>
    public static long[] ZipfNumbers(int seed, long keys, int count)
    {
        var law = new ZipfLaw(seed, keys);
        long[] drawn = new long[count];
        for (int i = 0; i < count; i++)
            drawn[i] = law.Next();
        return drawn;
    }
}
