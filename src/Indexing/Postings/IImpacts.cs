namespace Treepie.Indexing.Postings;

/// <summary>
/// The upper bound of a posting's weight: the part of BM25 that depends on the entry,
/// <c>tf / (tf + k1 · (1 − b + b · length / average))</c>, from 0 to 1 in steps of 1/255, rounded up. The average is a
/// constant of the field (its reference), so stored impacts never change.
/// </summary>
/// <remarks>
/// Invariant: weight · impact / 255 · max(1, average / reference) is at least the score. A greater average reduces the
/// denominator by no more than that factor; a smaller one increases it. Removals do not change impacts, which can only leave them
/// too large.
/// </remarks>
internal interface IImpacts
{
    /// <summary>The impact of an entry whose length is recorded.</summary>
    byte Of(long entryId, int frequency);

    /// <summary>The recorded length of an entry.</summary>
    int LengthOf(long entryId);

    /// <summary>The value that <see cref="Of"/> rounds, for an entry of a given length.</summary>
    double PartOf(int frequency, int length);
}
