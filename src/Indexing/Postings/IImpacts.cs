namespace Treepie.Indexing.Postings;

/// <summary>
/// How much a posting can weigh at the most: the part of BM25 that depends on the entry, <c>tf / (tf + k1 · (1 − b + b · length /
/// average))</c>, from 0 to 1 in steps of 1/255, rounded up. The average is one that the field keeps for ever (its reference), so
/// impacts stay as they are written.
/// </summary>
/// <remarks>
/// Invariant: weight · impact / 255 · max(1, average / reference) is at least the score. A greater average makes the denominator
/// smaller, but by no more than that factor; a smaller one makes it greater. Removals leave impacts as they are, which only makes
/// them too large.
/// </remarks>
internal interface IImpacts
{
    /// <summary>The impact of an entry whose length is recorded.</summary>
    byte Of(long entryId, int frequency);

    /// <summary>The recorded length of an entry.</summary>
    int LengthOf(long entryId);

    /// <summary>What <see cref="Of"/> says of an entry of some length, not rounded.</summary>
    double PartOf(int frequency, int length);
}
