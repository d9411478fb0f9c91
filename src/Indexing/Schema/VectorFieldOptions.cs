namespace Treepie.Indexing.Schema;

/// <summary>How the vectors of a field are stored and compared. Fixed when the index is created.</summary>
/// <param name="Dimensions">The number of dimensions; 0: as many as the first vector has.</param>
/// <param name="Metric">The similarity metric.</param>
/// <param name="IsQuantised">Whether only one byte per number is stored, or one bit for <see cref="VectorMetric.Hamming"/>:
/// a quarter of the space, or a 32nd, with results based on the quantized values. Otherwise quantized values are used for the
/// search and full numbers for the result.</param>
/// <param name="Edges">The number of neighbours of a vector in the graph, 4 to 64; twice as many in its lowest layer.</param>
/// <param name="IndexingCandidates">The number of nearest vectors considered to find the neighbours of a new one, 8 to 1,024:
/// more take longer and find better ones.</param>
public sealed record VectorFieldOptions(
    int Dimensions = 0, VectorMetric Metric = VectorMetric.Cosine, bool IsQuantised = false, int Edges = 16,
    int IndexingCandidates = 100)
{
    /// <summary>The maximum number of dimensions.</summary>
    public const int MaxDimensions = 4_096;
}

/// <summary>The similarity metrics of vectors.</summary>
public enum VectorMetric
{
    /// <summary>The cosine of the angle, −1 to 1, independent of lengths.</summary>
    Cosine,

    /// <summary>The dot product.</summary>
    Dot,

    /// <summary>The Euclidean distance d, as <c>1 / (1 + d)</c>, so that a greater value is nearer.</summary>
    Euclidean,

    /// <summary>
    /// The share of numbers that have the same sign, 0 to 1, where 0 counts as positive. Only the signs are stored, so the
    /// field is quantised.
    /// </summary>
    Hamming,
}
