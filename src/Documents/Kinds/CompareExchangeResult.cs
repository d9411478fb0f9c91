namespace Treepie.Kinds;

/// <summary>What a change of a compare-exchange value did.</summary>
/// <param name="Key">The key as given.</param>
/// <param name="Index">The index there is now; of a deletion that of the deletion.</param>
/// <param name="Value">The value there is now; of a deletion the one that was; null where there is none.</param>
/// <param name="IsSuccessful">Whether the index was the one expected. If not, nothing was changed.</param>
public sealed record CompareExchangeResult(string Key, long Index, CompareExchangeValue? Value, bool IsSuccessful) : KindResult
{
    /// <summary>Whether it was to be deleted.</summary>
    public bool IsDeletion { get; init; }
}
