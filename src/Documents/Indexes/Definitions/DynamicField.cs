using Treepie.Indexes.Fields;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// A field whose name a document said (<c>CreateField</c>), in one of its uses: documents may give one name in different ways,
/// and each way is a field of the index. What an index has met is kept with it, in the order in which it was met.
/// </summary>
/// <param name="Name">The name, with case.</param>
/// <param name="Use">What is done with its values.</param>
internal readonly record struct DynamicField(string Name, DynamicFieldUse Use)
{
    private const int MaxNameLength = 512;

    /// <summary>Why a name cannot be used, as a sentence; null where it can.</summary>
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

/// <summary>What is done with the values of a <see cref="DynamicField"/>.</summary>
internal enum DynamicFieldUse
{
    /// <summary>Whole values without case.</summary>
    Value,

    /// <summary>Words.</summary>
    Search,

    /// <summary>Whole values with case.</summary>
    Exact,

    /// <summary>They are kept, to be selected.</summary>
    Stored,
}
