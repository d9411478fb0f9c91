using Treepie.Indexes.Fields;
using Treepie.Indexing.Schema;

namespace Treepie.Indexes.Definitions;

/// <summary>One field of an auto-index: which values, and how they are to be searched.</summary>
/// <param name="Path">Path of the values, or <see cref="Id"/>.</param>
/// <param name="Kind">How they are searched.</param>
/// <param name="Longitude">Path of the longitudes of <see cref="AutoIndexFieldKind.Point"/>, whose latitudes are at
/// <paramref name="Path"/>; null for other kinds.</param>
internal sealed record AutoIndexField(string Path, AutoIndexFieldKind Kind = AutoIndexFieldKind.Value, string? Longitude = null)
{
    /// <summary>The document's id, as a field.</summary>
    public const string Id = "id()";

    /// <summary>
    /// Name inside an index that was defined by hand, which gives its fields names of their own; null: it follows from path and
    /// kind.
    /// </summary>
    public string? NameInIndex { get; init; }

    /// <summary>Whether documents say its name: its values stand under that name, and not at a path.</summary>
    public bool IsDynamic { get; init; }

    /// <summary>Name inside the index: <c>Name</c>, <c>search(Name)</c>, <c>exact(Name)</c>.</summary>
    public string SchemaName => NameInIndex ?? Kind switch
    {
        AutoIndexFieldKind.Search => $"search({Path})",
        AutoIndexFieldKind.Exact => $"exact({Path})",
        AutoIndexFieldKind.Point => $"spatial.point({Path}, {Longitude})",
        AutoIndexFieldKind.Wkt => $"spatial.wkt({Path})",
        AutoIndexFieldKind.Vector => $"vector.search({Path})",
        AutoIndexFieldKind.VectorBytes => $"vector.search(embedding.f32_i8({Path}))",
        _ => Path,
    };

    /// <summary>Its part in the name of the index: <c>Name</c>, <c>Search(Name)</c>, <c>Exact(Name)</c>.</summary>
    public string NamePart => Kind switch
    {
        AutoIndexFieldKind.Search => $"Search({Path})",
        AutoIndexFieldKind.Exact => $"Exact({Path})",
        AutoIndexFieldKind.Point => $"Spatial.point({Path}|{Longitude})",
        AutoIndexFieldKind.Wkt => $"Spatial.wkt({Path})",
        AutoIndexFieldKind.Vector => $"Vector.search({Path})",
        AutoIndexFieldKind.VectorBytes => $"Vector.search(embedding.f32_i8({Path}))",
        _ => Path,
    };

    public FieldAnalysis Analysis => Kind switch
    {
        AutoIndexFieldKind.Search => FieldAnalysis.FullText,
        AutoIndexFieldKind.Exact => FieldAnalysis.Keyword,
        AutoIndexFieldKind.Point or AutoIndexFieldKind.Wkt => FieldAnalysis.Spatial,
        AutoIndexFieldKind.Vector or AutoIndexFieldKind.VectorBytes => FieldAnalysis.Vector,
        _ => FieldAnalysis.LowerCaseKeyword,
    };

    /// <summary>Whether it holds texts, numbers and booleans, not places or vectors.</summary>
    public bool HasTerms => Kind is AutoIndexFieldKind.Value or AutoIndexFieldKind.Search or AutoIndexFieldKind.Exact;

    /// <summary>How its vectors are kept; null: with the defaults, or it has none.</summary>
    public VectorFieldOptions? Vector =>
        Kind == AutoIndexFieldKind.VectorBytes ? new VectorFieldOptions(IsQuantised: true) : null;

    /// <summary>Where the values stand; null for the id.</summary>
    public FieldPath? FieldPath => Path == Id ? null : Fields.FieldPath.TryParse(Path);
}

/// <summary>How a field is searched.</summary>
internal enum AutoIndexFieldKind
{
    /// <summary>Whole values, without case; numbers; order.</summary>
    Value,

    /// <summary>Words: <c>search()</c>.</summary>
    Search,

    /// <summary>Whole values, with case: <c>exact()</c>.</summary>
    Exact,

    /// <summary>Places from latitudes and longitudes at two paths.</summary>
    Point,

    /// <summary>Places and shapes from texts of WKT.</summary>
    Wkt,

    /// <summary>Vectors, with all their digits.</summary>
    Vector,

    /// <summary>Vectors, with a byte for each number.</summary>
    VectorBytes,

    /// <summary>Numbers that scores of documents are multiplied with.</summary>
    Boost,
}
