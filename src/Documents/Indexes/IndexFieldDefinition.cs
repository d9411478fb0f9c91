namespace Treepie.Indexes;

/// <summary>One field of an <see cref="IndexDefinition"/>. Immutable.</summary>
public sealed record IndexFieldDefinition
{
    /// <summary>The name that queries say, with case.</summary>
    public required string Name { get; init; }

    /// <summary>
    /// Where the values stand in a document: <c>ShipTo.City</c>, <c>Lines[].Product</c>, <c>Tags[0]</c>,
    /// <c>@metadata.@last-modified</c>, or <c>id()</c>. Null: at the path that is the name. An array on the way is walked element
    /// by element. Not given for a point, which has two paths.
    /// </summary>
    public string? Path { get; init; }

    /// <summary>How the values are searched.</summary>
    public FieldIndexing Indexing { get; init; }

    /// <summary>Analyzer of a <see cref="FieldIndexing.Search"/> field; null: the default.</summary>
    public string? Analyzer { get; init; }

    /// <summary>
    /// What the score of words found in a <see cref="FieldIndexing.Search"/> field is multiplied with; greater than 0.
    /// </summary>
    public float Boost { get; init; } = 1;

    /// <summary>
    /// Keeps the whole values of a <see cref="FieldIndexing.Search"/> field beside its words, so that results can be sorted by it
    /// and compared with whole values. Other fields can be sorted by anyway.
    /// </summary>
    public bool Sort { get; init; }

    /// <summary>
    /// Keeps the value, as it stands in the document, so that <c>select</c> has it without reading the document. The answer is
    /// the same with and without it, but while the index is behind: then the value is the one that the index has seen. Not of a
    /// point, which has two paths.
    /// </summary>
    public bool Stored { get; init; }

    /// <summary>
    /// Whether suggestions are asked of it; says so in listings, every field of words or whole values can give them.
    /// </summary>
    public bool Suggestions { get; init; }

    /// <summary>Makes it a place: for <c>spatial.…</c> and order by distance.</summary>
    public SpatialFieldDefinition? Spatial { get; init; }

    /// <summary>Makes it a vector: for <c>vector.search</c>.</summary>
    public VectorFieldDefinition? Vector { get; init; }
}

/// <summary>How the values of a field are searched.</summary>
public enum FieldIndexing
{
    /// <summary>Whole values, without case; numbers; order.</summary>
    Default,

    /// <summary>Words, as an analyzer makes them.</summary>
    Search,

    /// <summary>Whole values, with case; numbers; order.</summary>
    Exact,
}

/// <summary>Where a place stands in a document: either a point in two numbers, or a shape as WKT text.</summary>
public sealed record SpatialFieldDefinition
{
    /// <summary>Path of the latitude, in degrees.</summary>
    public string? Latitude { get; init; }

    /// <summary>Path of the longitude, in degrees.</summary>
    public string? Longitude { get; init; }

    /// <summary>Path of a shape as WKT, instead of a point.</summary>
    public string? Wkt { get; init; }
}

/// <summary>A vector of a document: an array of numbers at the field's path.</summary>
/// <param name="Dimensions">Numbers of each vector; 0: as many as the first one has.</param>
/// <param name="Bytes">Whether a byte is kept for each number: a quarter of the room, and similarities to about 1 %.</param>
public sealed record VectorFieldDefinition(int Dimensions, bool Bytes = false);
