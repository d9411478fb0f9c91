namespace Treepie.Bench.Suites.Faster;

/// <summary>
/// What one thread does to a map of 8-byte keys and values, a thousand operations at a call, so that the call itself costs
/// nothing. The value of a key is a function of the key: so every map must read the same sum.
/// </summary>
internal interface IMapClient : IDisposable
{
    /// <summary>Reads all keys; returns the sum of their values.</summary>
    long Read(ReadOnlySpan<long> keys);

    /// <summary>Sets all keys.</summary>
    void Upsert(ReadOnlySpan<long> keys);

    /// <summary>Reads every second key and sets the others; returns the sum of the values read.</summary>
    long Mix(ReadOnlySpan<long> keys);

    /// <summary>What <see cref="Read"/> must return where all keys are there.</summary>
    long Expect(ReadOnlySpan<long> keys)
    {
        long sum = 0;
        foreach (long key in keys)
            sum += MapKeys.ValueOf(key);
        return sum;
    }
}

/// <summary>A map under measurement.</summary>
internal interface IMapUnderTest : IDisposable
{
    /// <summary>As tables show it.</summary>
    string Name { get; }

    /// <summary>Opens what one thread works through.</summary>
    IMapClient Open();
}
