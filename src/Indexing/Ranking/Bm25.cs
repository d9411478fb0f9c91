namespace Treepie.Indexing.Ranking;

/// <summary>
/// BM25 as Lucene 8 counts it: <c>idf · tf / (tf + k1 · (1 − b + b · length / average length))</c> with
/// <c>idf = ln(1 + (N − df + 0.5) / (df + 0.5))</c>, N being the entries with at least one term in the field.
/// </summary>
internal static class Bm25
{
    public const double K1 = 1.2;
    public const double B = 0.75;

    /// <summary>Sums of bounds and of scores are rounded differently; this is a thousand times as much.</summary>
    public const float BoundMargin = 1 + 1e-4f;

    public static double Idf(long entriesWithTerms, long entriesWithTerm) =>
        Math.Log(1 + ((entriesWithTerms - entriesWithTerm + 0.5) / (entriesWithTerm + 0.5)));

    /// <summary>The part of the formula that depends on the entry, as <see cref="Postings.IImpacts"/> keeps it.</summary>
    public static byte Impact(int frequency, int length, double averageLength) =>
        (byte)Math.Min(255, Math.Ceiling(255 * Part(frequency, length, averageLength)));

    /// <summary>That part itself.</summary>
    public static double Part(int frequency, int length, double averageLength) =>
        frequency / (frequency + (K1 * (1 - B + (B * length / averageLength))));

    /// <summary>
    /// What a term counts for an entry that has it so often, whose length has such a factor: see <see cref="LengthFactors"/>.
    /// </summary>
    public static float Part(float weight, int frequency, float factor) => weight * frequency / (frequency + factor);
}
