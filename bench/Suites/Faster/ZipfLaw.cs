namespace Treepie.Bench.Suites.Faster;

/// <summary>
/// Draws numbers by Zipf's law (exponent 0.99, the method of Gray and others that YCSB uses), 0 the most frequent.
/// </summary>
internal sealed class ZipfLaw
{
    private const double Exponent = 0.99;

    private readonly Random _random;
    private readonly long _keys;
    private readonly double _zetaAll, _zetaTwo = Zeta(2), _alpha = 1 / (1 - Exponent), _eta;

    public ZipfLaw(int seed, long keys)
    {
        _random = new Random(seed);
        _keys = keys;
        _zetaAll = Zeta(keys);
        _eta = (1 - Math.Pow(2.0 / keys, 1 - Exponent)) / (1 - (_zetaTwo / _zetaAll));
    }

    /// <summary>The next number, below the count of keys.</summary>
    public long Next()
    {
        double u = _random.NextDouble(), uz = u * _zetaAll;
        long rank = uz < 1 ? 0 : uz < _zetaTwo ? 1 : (long)(_keys * Math.Pow((_eta * u) - _eta + 1, _alpha));
        return Math.Min(rank, _keys - 1);
    }

    private static double Zeta(long keys)
    {
        // Exact for the first terms, by the integral with its first correction for the many small ones.
        const long exact = 100_000;
        double sum = 0;
        for (long i = 1; i <= Math.Min(keys, exact); i++)
            sum += Math.Pow(i, -Exponent);
        return keys <= exact
            ? sum
            : sum + ((Math.Pow(keys, 1 - Exponent) - Math.Pow(exact, 1 - Exponent)) / (1 - Exponent))
                + ((Math.Pow(keys, -Exponent) - Math.Pow(exact, -Exponent)) / 2);
    }
}
