namespace Treepie.Indexing.Schema;

/// <summary>How the vectors of a field are kept and compared. Fixed when the index is made.</summary>
/// <param name="Dimensions">Numbers of a vector; 0: as many as the first one has.</param>
/// <param name="Metric">What near means.</param>
/// <param name="IsQuantised">Whether a byte for each number is all that is kept: a quarter of the space, and answers are by what
/// was kept. Otherwise bytes lead the way and full numbers decide.</param>
/// <param name="Edges">Neighbours of a vector in the graph, 4 to 64; twice as many in its lowest layer.</param>
/// <param name="IndexingCandidates">Nearest vectors looked at to find a new one's neighbours, 8 to 1,024: more cost time and find
/// better ones.</param>
public sealed record VectorFieldOptions(
    int Dimensions = 0, VectorMetric Metric = VectorMetric.Cosine, bool IsQuantised = false, int Edges = 16,
    int IndexingCandidates = 100)
{
    /// <summary>Most numbers of a vector.</summary>
    public const int MaxDimensions = 4_096;
}

/// <summary>What near means among vectors.</summary>
public enum VectorMetric
{
    /// <summary>The cosine of their angle, −1 to 1: lengths do not count.</summary>
    Cosine,

    /// <summary>Their dot product.</summary>
    Dot,

    /// <summary>Their distance d, as <c>1 / (1 + d)</c>, so that more is nearer.</summary>
    Euclidean,
}
