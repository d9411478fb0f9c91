using Treepie.Indexes.Fields;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// A field whose name is determined by a document (<c>CreateField</c>), in one of its uses: documents may use one name in
/// different ways, and each of them is a field of the index. Known fields are stored with the index, in the order in which
/// they were first seen.
/// </summary>
/// <param name="Name">The name, case-sensitive.</param>
/// <param name="Use">How its values are used.</param>
internal readonly record struct DynamicField(string Name, DynamicFieldUse Use)
{
    private const int MaxNameLength = 512;

    /// <summary>Returns why a name is not valid, as a sentence; null if it is.</summary>
    public static string? Problem(string name)
    {
        if (string.IsNullOrWhiteSpace(name) || name.Length > MaxNameLength || name.Any(char.IsControl))
            return $"this is no name of a field: one has 1 to {MaxNameLength} characters, none of them a control character.";
        return name[0] == FieldPath.MetadataMember[0] || name.EndsWith(')')
            ? "this is no name of a field that documents make: it begins with '@' or ends with ')', as the names that the index "
                + "itself uses do."
            : null;
    }
}

/// <summary>How the values of a <see cref="DynamicField"/> are used.</summary>
internal enum DynamicFieldUse
{
    /// <summary>Whole values, case-insensitive.</summary>
    Value,

    /// <summary>Full-text.</summary>
    Search,

    /// <summary>Whole values, case-sensitive.</summary>
    Exact,

    /// <summary>Stored, for selection.</summary>
    Stored,
}
