namespace Treepie.Kinds;

/// <summary>The result of a change of a compare-exchange value.</summary>
/// <param name="Key">The key as given.</param>
/// <param name="Index">The index of the value after the operation; for a deletion, the index of the deletion.</param>
/// <param name="Value">The value after the operation; for a deletion, the deleted value. Null if there is none.</param>
/// <param name="IsSuccessful">Whether the value had the expected index. If not, nothing was changed.</param>
public sealed record CompareExchangeResult(string Key, long Index, CompareExchangeValue? Value, bool IsSuccessful) : KindResult
{
    /// <summary>Whether the operation was a deletion.</summary>
    public bool IsDeletion { get; init; }
}
