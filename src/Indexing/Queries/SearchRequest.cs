using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Queries;

/// <summary>A query with its order and page.</summary>
public sealed record SearchRequest
{
    /// <summary>What to find.</summary>
    public required IndexQuery Query { get; init; }

    /// <summary>Order, first key first; ties and an empty list by entry id, so paging is stable.</summary>
    public IReadOnlyList<SortKey> Sort { get; init; } = [];

    /// <summary>Hits to leave out.</summary>
    public long Skip { get; init; }

    /// <summary>Hits to return at the most; 0 asks for the count alone.</summary>
    public long Take { get; init; } = long.MaxValue;

    /// <summary>
    /// Whether all hits are to be counted, also where the page can be found without looking at them. If not,
    /// <see cref="SearchResults.TotalCount"/> may be less than there are: <see cref="SearchResults.IsTotalExact"/> says so.
    /// </summary>
    public bool CountsHits { get; init; } = true;

    /// <summary>
    /// A position that <see cref="SearchResults.Position"/> gave: the page behind it, found without going over the pages before.
    /// Empty: from the first hit.
    /// </summary>
    public ReadOnlyMemory<byte> After { get; init; }

    /// <summary>Whether the position behind the page is wanted.</summary>
    public bool WithPosition { get; init; }

    /// <summary>How an order is to be found, for tests that hold the ways equal.</summary>
    internal OrderHint OrderHint { get; init; }
}

/// <summary>Ways to find the first hits of an order. All give the same answer.</summary>
internal enum OrderHint
{
    /// <summary>The cheaper by exact counts.</summary>
    Cheaper,

    /// <summary>By reading the sort value of every hit.</summary>
    Sort,

    /// <summary>By walking the values in order, wherever that is possible.</summary>
    Walk,

    /// <summary>By going along a compound key, wherever there is one.</summary>
    Compound,
}

/// <summary>One key of an order.</summary>
/// <param name="Field">Field to sort by; empty for score and random.</param>
/// <param name="Kind">How its values compare.</param>
/// <param name="Descending">Greatest first.</param>
/// <param name="NullsFirst">Where nulls and missing values go; null: they count as the smallest.</param>
/// <param name="Seed">Seed of <see cref="SortKind.Random"/>.</param>
/// <param name="Centre">Where <see cref="SortKind.Distance"/> is measured from.</param>
/// <param name="RoundToKm">Distances are cut to multiples of this, so that the next key decides among those that are about as
/// far; 0: not at all.</param>
public sealed record SortKey(
    string Field, SortKind Kind, bool Descending = false, bool? NullsFirst = null, string? Seed = null, GeoPoint? Centre = null,
    double RoundToKm = 0)
{
    /// <summary>The order of <see cref="SortKind.Custom"/>.</summary>
    public ICustomOrder? Custom { get; init; }
}

/// <summary>How sort values compare.</summary>
public enum SortKind
{
    /// <summary>Terms in byte order.</summary>
    Text,

    /// <summary>As whole numbers.</summary>
    Long,

    /// <summary>As doubles.</summary>
    Double,

    /// <summary>Text with runs of digits compared as numbers.</summary>
    AlphaNumeric,

    /// <summary>By score, best first unless descending is unset by the caller's grammar.</summary>
    Score,

    /// <summary>By a hash of entry id and seed.</summary>
    Random,

    /// <summary>
    /// By the distance of the nearest value of a spatial field. Entries without one stand last, whichever the direction, unless
    /// nulls are asked for first.
    /// </summary>
    Distance,

    /// <summary>As <see cref="SortKey.Custom"/> says.</summary>
    Custom,
}
