using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Queries;

/// <summary>A query with its order and paging.</summary>
public sealed record SearchRequest
{
    /// <summary>The query.</summary>
    public required IndexQuery Query { get; init; }

    /// <summary>
    /// The order, with the first key first; ties are ordered by entry id, as is everything if the list is empty, so paging is
    /// stable.
    /// </summary>
    public IReadOnlyList<SortKey> Sort { get; init; } = [];

    /// <summary>The number of hits to skip.</summary>
    public long Skip { get; init; }

    /// <summary>The maximum number of hits to return; 0 returns only the count.</summary>
    public long Take { get; init; } = long.MaxValue;

    /// <summary>
    /// Whether all hits are counted, even if the page can be found without examining them. If not,
    /// <see cref="SearchResults.TotalCount"/> may be too low: see <see cref="SearchResults.IsTotalExact"/>.
    /// </summary>
    public bool CountsHits { get; init; } = true;

    /// <summary>
    /// The <see cref="SearchResults.Position"/> of the previous page: returns the page after it, without scanning earlier pages.
    /// Empty: from the first hit.
    /// </summary>
    public ReadOnlyMemory<byte> After { get; init; }

    /// <summary>Whether to return the position of the next page.</summary>
    public bool WithPosition { get; init; }

    /// <summary>How an order is to be found, for tests that compare the alternatives.</summary>
    internal OrderHint OrderHint { get; init; }
}

/// <summary>How to find the first hits of an order. All give the same result.</summary>
internal enum OrderHint
{
    /// <summary>The cheapest method according to exact counts.</summary>
    Cheaper,

    /// <summary>By reading the sort value of every hit.</summary>
    Sort,

    /// <summary>By walking the values in order, where possible.</summary>
    Walk,

    /// <summary>By walking a compound key, if there is one.</summary>
    Compound,
}

/// <summary>One key of an order.</summary>
/// <param name="Field">The field to sort by; empty for score, random and key.</param>
/// <param name="Kind">How the values are compared.</param>
/// <param name="Descending">Whether to sort in descending order.</param>
/// <param name="NullsFirst">Where nulls and missing values go; null: they sort as the smallest.</param>
/// <param name="Seed">The seed of <see cref="SortKind.Random"/>.</param>
/// <param name="Centre">The point from which <see cref="SortKind.Distance"/> is measured.</param>
/// <param name="RoundToKm">Distances are truncated to multiples of this, so that the next key orders entries at about the same
/// distance; 0: not truncated.</param>
public sealed record SortKey(
    string Field, SortKind Kind, bool Descending = false, bool? NullsFirst = null, string? Seed = null, GeoPoint? Centre = null,
    double RoundToKm = 0)
{
    /// <summary>The order of <see cref="SortKind.Custom"/>; null for the other kinds.</summary>
    public ICustomOrder? Custom { get; init; }

    /// <summary>The values of <see cref="SortKind.Given"/>; null for the other kinds.</summary>
    public GivenOrder? Given { get; init; }
}

/// <summary>How sort values are compared.</summary>
public enum SortKind
{
    /// <summary>As terms, in byte order.</summary>
    Text,

    /// <summary>As integers.</summary>
    Long,

    /// <summary>As doubles.</summary>
    Double,

    /// <summary>As text in which runs of digits are compared as numbers.</summary>
    AlphaNumeric,

    /// <summary>By score, best first if <see cref="SortKey.Descending"/>.</summary>
    Score,

    /// <summary>By a hash of entry id and seed.</summary>
    Random,

    /// <summary>
    /// By the distance of the nearest value of a spatial field. Entries without a value are last in both directions, unless nulls
    /// are requested first.
    /// </summary>
    Distance,

    /// <summary>By <see cref="SortKey.Custom"/>.</summary>
    Custom,

    /// <summary>
    /// By the key of the entry as text, in byte order, up to its first byte 00 or FF: what follows tells entries of one document
    /// apart. Takes no field.
    /// </summary>
    Key,

    /// <summary>As <see cref="Key"/>, with runs of digits compared as numbers.</summary>
    AlphaNumericKey,

    /// <summary>By <see cref="SortKey.Given"/>: values that are given with the query. Takes no field.</summary>
    Given,
}
