using Treepie.Indexes.Fields;
using Treepie.Indexing.Schema;

namespace Treepie.Indexes.Definitions;

/// <summary>One field of an auto-index: which values, and how they are searched.</summary>
/// <param name="Path">The path of the values, or <see cref="Id"/>.</param>
/// <param name="Kind">How they are searched.</param>
/// <param name="Longitude">For <see cref="AutoIndexFieldKind.Point"/>, the path of the longitudes, with the latitudes at
/// <paramref name="Path"/>; null for other kinds.</param>
internal sealed record AutoIndexField(string Path, AutoIndexFieldKind Kind = AutoIndexFieldKind.Value, string? Longitude = null)
{
    /// <summary>The id of the document, as a field.</summary>
    public const string Id = "id()";

    /// <summary>
    /// The name inside a static index, whose fields have names of their own; null if the name is derived from path and kind.
    /// </summary>
    public string? NameInIndex { get; init; }

    /// <summary>Whether its name is determined by documents: its values are found under that name instead of a path.</summary>
    public bool IsDynamic { get; init; }

    /// <summary>
    /// The name inside the index: <c>Name</c>, <c>search(Name)</c>, <c>exact(Name)</c>. Fields that differ in path or kind have
    /// different names.
    /// </summary>
    public string SchemaName => NameInIndex ?? Kind switch
    {
        AutoIndexFieldKind.Search => $"search({Quoted(Path)})",
        AutoIndexFieldKind.Exact => $"exact({Quoted(Path)})",
        AutoIndexFieldKind.Point => $"spatial.point({Quoted(Path)}, {Quoted(Longitude ?? "")})",
        AutoIndexFieldKind.Wkt => $"spatial.wkt({Quoted(Path)})",
        AutoIndexFieldKind.Vector => $"vector.search({Quoted(Path)})",
        AutoIndexFieldKind.VectorBytes => $"vector.search(embedding.f32_i8({Quoted(Path)}))",
        AutoIndexFieldKind.VectorBits => $"vector.search(embedding.f32_i1({Quoted(Path)}))",
        AutoIndexFieldKind.PackedBits => $"vector.search(embedding.i1({Quoted(Path)}))",
        _ when ComputedKinds.IsComputed(Kind) => $"{ComputedKinds.NameOf(Kind)}({Quoted(Path)})",
        _ => Path == Id ? Id : Quoted(Path),
    };

    /// <summary>Its part of the name of the index: <c>Name</c>, <c>Search(Name)</c>, <c>Exact(Name)</c>.</summary>
    public string NamePart => Kind switch
    {
        AutoIndexFieldKind.Search => $"Search({Path})",
        AutoIndexFieldKind.Exact => $"Exact({Path})",
        AutoIndexFieldKind.Point => $"Spatial.point({Path}|{Longitude})",
        AutoIndexFieldKind.Wkt => $"Spatial.wkt({Path})",
        AutoIndexFieldKind.Vector => $"Vector.search({Path})",
        AutoIndexFieldKind.VectorBytes => $"Vector.search(embedding.f32_i8({Path}))",
        AutoIndexFieldKind.VectorBits => $"Vector.search(embedding.f32_i1({Path}))",
        AutoIndexFieldKind.PackedBits => $"Vector.search(embedding.i1({Path}))",
        _ when ComputedKinds.IsComputed(Kind) => $"{Kind}({Path})",
        _ => Path,
    };

    public FieldAnalysis Analysis => Kind switch
    {
        AutoIndexFieldKind.Search => FieldAnalysis.FullText,
        AutoIndexFieldKind.Exact => FieldAnalysis.Keyword,
        AutoIndexFieldKind.Point or AutoIndexFieldKind.Wkt => FieldAnalysis.Spatial,
        _ when HasVectors => FieldAnalysis.Vector,
        _ => FieldAnalysis.LowerCaseKeyword,
    };

    /// <summary>Whether it holds text, numbers and booleans as documents do, not computed values, shapes or vectors.</summary>
    public bool HasTerms => Kind is AutoIndexFieldKind.Value or AutoIndexFieldKind.Search or AutoIndexFieldKind.Exact;

    /// <summary>Whether it holds vectors.</summary>
    public bool HasVectors => IsVector(Kind);

    /// <summary>How its vectors are stored; null for the defaults, or if it has none.</summary>
    public VectorFieldOptions? Vector => Kind switch
    {
        AutoIndexFieldKind.VectorBytes => new VectorFieldOptions(IsQuantised: true),
        AutoIndexFieldKind.VectorBits or AutoIndexFieldKind.PackedBits =>
            new VectorFieldOptions(Metric: VectorMetric.Hamming, IsQuantised: true),
        _ => null,
    };

    /// <summary>Whether fields of a kind hold vectors.</summary>
    public static bool IsVector(AutoIndexFieldKind kind) =>
        kind is >= AutoIndexFieldKind.Vector and <= AutoIndexFieldKind.PackedBits;

    /// <summary>The path of the values; null for the id.</summary>
    public FieldPath? FieldPath => Path == Id ? null : Fields.FieldPath.TryParse(Path);

    /// <summary>
    /// Returns a path in quotes if it could be taken for a call, for one of the arguments of a call, or for the boost of an
    /// index; no other path has the result as its text.
    /// </summary>
    private static string Quoted(string path) => path.AsSpan().IndexOfAny("(),") >= 0 || path == IndexSchema.BoostField
        ? $"'{path.Replace("'", "''", StringComparison.Ordinal)}'"
        : path;
}

/// <summary>How a field is searched.</summary>
internal enum AutoIndexFieldKind
{
    /// <summary>Whole values, case-insensitive; numbers; sorting.</summary>
    Value,

    /// <summary>Full-text: <c>search()</c>.</summary>
    Search,

    /// <summary>Whole values, case-sensitive: <c>exact()</c>.</summary>
    Exact,

    /// <summary>Points with latitude and longitude at two paths.</summary>
    Point,

    /// <summary>Points and shapes as WKT.</summary>
    Wkt,

    /// <summary>Vectors with full precision.</summary>
    Vector,

    /// <summary>Vectors with one byte per number.</summary>
    VectorBytes,

    /// <summary>The signs of vectors, one bit per number.</summary>
    VectorBits,

    /// <summary>Vectors of bits that documents have packed, eight to a byte. The last kind of vectors.</summary>
    PackedBits,

    /// <summary>Numbers by which the scores of documents are multiplied.</summary>
    Boost,

    /// <summary>
    /// Times of any offset as moments: <c>utc()</c>. This kind and all that follow are computed, see
    /// <see cref="ComputedKinds"/>: functions of the same names.
    /// </summary>
    Utc,

    /// <summary>How many characters a text has.</summary>
    Length,

    /// <summary>The day of a time as a text: <c>2024-05-01</c>.</summary>
    Date,

    Year,

    Month,

    Day,

    DayOfYear,

    /// <summary>The day of the week of a time; 0 is Sunday.</summary>
    DayOfWeek,

    Hour,

    Minute,

    Second,

    Millisecond,

    /// <summary>
    /// How many elements the arrays at the path have; a value that is no array is one, null and missing are none.
    /// </summary>
    Count,
}
