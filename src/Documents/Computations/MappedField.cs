namespace Treepie.Computations;

/// <summary>A field of the objects that a map or a reduce returns.</summary>
/// <param name="Name">Its name, case-sensitive.</param>
/// <param name="Kind">The kind of its values.</param>
internal readonly record struct MappedField(string Name, MappedFieldKind Kind = MappedFieldKind.Value)
{
    /// <summary>The member of an object with its boost, a number.</summary>
    public const string Boost = "@boost";

    /// <summary>
    /// The member of an object with its dynamic fields: an array of <c>{"Name":…,"Value":…,"Indexing":…,"Storage":…}</c>,
    /// the last two only if specified.
    /// </summary>
    public const string Dynamic = "@fields";
}

/// <summary>The kind of the values of a field.</summary>
internal enum MappedFieldKind
{
    /// <summary>Strings, numbers, booleans, objects.</summary>
    Value,

    /// <summary>Geometries as WKT, including points.</summary>
    Spatial,

    /// <summary>Vectors: arrays of numbers.</summary>
    Vector,
}
