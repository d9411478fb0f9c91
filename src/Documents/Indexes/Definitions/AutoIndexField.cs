using Treepie.Indexes.Fields;
using Treepie.Indexing.Schema;

namespace Treepie.Indexes.Definitions;

/// <summary>One field of an auto-index: which values, and how they are to be searched.</summary>
/// <param name="Path">Path of the values, or <see cref="Id"/>.</param>
/// <param name="Kind">How they are searched.</param>
internal sealed record AutoIndexField(string Path, AutoIndexFieldKind Kind = AutoIndexFieldKind.Value)
{
    /// <summary>The document's id, as a field.</summary>
    public const string Id = "id()";

    /// <summary>Name inside the index: <c>Name</c>, <c>search(Name)</c>, <c>exact(Name)</c>.</summary>
    public string SchemaName => Kind switch
    {
        AutoIndexFieldKind.Search => $"search({Path})",
        AutoIndexFieldKind.Exact => $"exact({Path})",
        _ => Path,
    };

    /// <summary>Its part in the name of the index: <c>Name</c>, <c>Search(Name)</c>, <c>Exact(Name)</c>.</summary>
    public string NamePart => Kind switch
    {
        AutoIndexFieldKind.Search => $"Search({Path})",
        AutoIndexFieldKind.Exact => $"Exact({Path})",
        _ => Path,
    };

    public FieldAnalysis Analysis => Kind switch
    {
        AutoIndexFieldKind.Search => FieldAnalysis.FullText,
        AutoIndexFieldKind.Exact => FieldAnalysis.Keyword,
        _ => FieldAnalysis.LowerCaseKeyword,
    };

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
}
