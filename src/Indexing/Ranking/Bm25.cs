namespace Treepie.Indexing.Ranking;

/// <summary>
/// BM25 as computed by Lucene 8: <c>idf · tf / (tf + k1 · (1 − b + b · length / average length))</c> with <c>idf = ln(1 + (N
/// − df + 0.5) / (df + 0.5))</c>, where N is the number of entries with at least one term in the field.
/// </summary>
internal static class Bm25
{
    public const double K1 = 1.2;
    public const double B = 0.75;

    /// <summary>
    /// Allows for different rounding in sums of bounds and of scores; a thousand times the possible error.
    /// </summary>
    public const float BoundMargin = 1 + 1e-4f;

    public static double Idf(long entriesWithTerms, long entriesWithTerm) =>
        Math.Log(1 + ((entriesWithTerms - entriesWithTerm + 0.5) / (entriesWithTerm + 0.5)));

    /// <summary>The entry-dependent part of the formula as stored by <see cref="Postings.IImpacts"/>.</summary>
    public static byte Impact(int frequency, int length, double averageLength) =>
        (byte)Math.Min(255, Math.Ceiling(255 * Part(frequency, length, averageLength)));

    /// <summary>The entry-dependent part of the formula.</summary>
    public static double Part(int frequency, int length, double averageLength) =>
        frequency / (frequency + (K1 * (1 - B + (B * length / averageLength))));

    /// <summary>
    /// The score of a term for an entry, given its frequency and length factor; see <see cref="LengthFactors"/>.
    /// </summary>
    public static float Part(float weight, int frequency, float factor) => weight * frequency / (frequency + factor);
}
