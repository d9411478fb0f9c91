namespace Treepie.Indexes;

/// <summary>State of one index at one moment.</summary>
/// <param name="Name">Its name, for instance <c>Auto/Users/ByName</c>.</param>
/// <param name="Collection">The collection it covers; <c>@all_docs</c> for all.</param>
/// <param name="Fields">Its fields, by name.</param>
/// <param name="IsStale">Whether documents wait to be indexed.</param>
/// <param name="State">Running, or faulted with the reason in <paramref name="Error"/>.</param>
/// <param name="EntryCount">Entries.</param>
/// <param name="LastIndexedEtag">How far it is.</param>
/// <param name="LastIndexingTime">End of its last batch (UTC); null before the first.</param>
/// <param name="ErrorCount">Documents that could not be indexed.</param>
/// <param name="Error">The last error.</param>
public sealed record IndexStatistics(
    string Name,
    string Collection,
    IReadOnlyList<string> Fields,
    bool IsStale,
    IndexState State,
    long EntryCount,
    long LastIndexedEtag,
    DateTime? LastIndexingTime,
    long ErrorCount,
    string? Error);

/// <summary>State of an index.</summary>
public enum IndexState
{
    /// <summary>Running.</summary>
    Normal,

    /// <summary>Stopped by an error.</summary>
    Error,
}
