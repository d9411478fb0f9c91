namespace Treepie.Indexes;

/// <summary>The definition of one field of an <see cref="IndexDefinition"/>. Immutable.</summary>
public sealed record IndexFieldDefinition
{
    /// <summary>The name of the field in queries, case-sensitive.</summary>
    public required string Name { get; init; }

    /// <summary>
    /// The path of the values in a document: <c>ShipTo.City</c>, <c>Lines[].Product</c>, <c>Tags[0]</c>,
    /// <c>@metadata.@last-modified</c>, or <c>id()</c>. Null: the same as the name. An array in the path is expanded to its
    /// elements. Not used for points, which have two paths.
    /// </summary>
    public string? Path { get; init; }

    /// <summary>How the values are indexed.</summary>
    public FieldIndexing Indexing { get; init; }

    /// <summary>The analyzer of a <see cref="FieldIndexing.Search"/> field. Null: the default.</summary>
    public string? Analyzer { get; init; }

    /// <summary>
    /// The factor, greater than 0, by which the scores of matches in a <see cref="FieldIndexing.Search"/> field are multiplied.
    /// </summary>
    public float Boost { get; init; } = 1;

    /// <summary>
    /// Also indexes the whole values of a <see cref="FieldIndexing.Search"/> field, so that results can be sorted by it and
    /// compared with whole values. Other fields can always be sorted by.
    /// </summary>
    public bool Sort { get; init; }

    /// <summary>
    /// Stores the value in the index as it is in the document, so that <c>select</c> can return it without reading the document.
    /// The results are the same with and without it, except while the index is behind: then the indexed value is returned. Not
    /// available for points, which have two paths.
    /// </summary>
    public bool Stored { get; init; }

    /// <summary>
    /// Marks the field as used for suggestions. Shown in listings only: every full-text or whole-value field supports
    /// suggestions.
    /// </summary>
    public bool Suggestions { get; init; }

    /// <summary>Makes it a spatial field, for <c>spatial.…</c> and ordering by distance.</summary>
    public SpatialFieldDefinition? Spatial { get; init; }

    /// <summary>Makes it a vector field, for <c>vector.search</c>.</summary>
    public VectorFieldDefinition? Vector { get; init; }
}

/// <summary>How the values of a field are indexed.</summary>
public enum FieldIndexing
{
    /// <summary>Whole values, case-insensitive; numbers; sortable.</summary>
    Default,

    /// <summary>Full-text: the words that an analyzer produces.</summary>
    Search,

    /// <summary>Whole values, case-sensitive; numbers; sortable.</summary>
    Exact,

    /// <summary>Not at all: the value can be selected, and nothing is found by it.</summary>
    No,
}

/// <summary>The source of a spatial field in a document: either a point as two numbers, or a shape as WKT.</summary>
public sealed record SpatialFieldDefinition
{
    /// <summary>The path of the latitude, in degrees.</summary>
    public string? Latitude { get; init; }

    /// <summary>The path of the longitude, in degrees.</summary>
    public string? Longitude { get; init; }

    /// <summary>The path of a shape as WKT, instead of a point.</summary>
    public string? Wkt { get; init; }

    /// <summary>Whether distances in queries of the field are in miles if they name no unit; otherwise in kilometres.</summary>
    public bool IsInMiles { get; init; }
}

/// <summary>A vector field, whose vectors are arrays of numbers at the path of the field.</summary>
/// <param name="Dimensions">The number of dimensions. 0: as many as the first vector has.</param>
/// <param name="Bytes">Whether vectors are quantized to one byte per number: a quarter of the size, with similarities accurate to
/// about 1 %.</param>
/// <param name="Bits">Whether only the sign of each number is stored: a 32nd of the size, with the share of equal signs as
/// similarity.</param>
public sealed record VectorFieldDefinition(int Dimensions, bool Bytes = false, bool Bits = false);
