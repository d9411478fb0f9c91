namespace Treepie.Kinds;

/// <summary>The result of an operation on a time series.</summary>
/// <param name="DocumentId">The id of the document.</param>
/// <param name="DocumentChangeVector">The change vector of the document after the operation; null if it does not exist.</param>
public sealed record TimeSeriesResult(string DocumentId, string? DocumentChangeVector) : KindResult
{
    /// <summary>Whether the operation copied entries of another series.</summary>
    public bool IsCopy { get; init; }
}
