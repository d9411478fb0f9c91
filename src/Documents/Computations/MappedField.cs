namespace Treepie.Computations;

/// <summary>A field of the objects that a map or a reduce makes.</summary>
/// <param name="Name">Its name, with case.</param>
/// <param name="Kind">What its values are.</param>
internal readonly record struct MappedField(string Name, MappedFieldKind Kind = MappedFieldKind.Value)
{
    /// <summary>The member of an object that has its weight, a number.</summary>
    public const string Boost = "@boost";

    /// <summary>
    /// The member of an object with fields whose names only the document says: an array of
    /// <c>{"Name":…,"Value":…,"Indexing":…,"Storage":…}</c>, the last two where they are given.
    /// </summary>
    public const string Dynamic = "@fields";
}

/// <summary>What the values of a field are.</summary>
internal enum MappedFieldKind
{
    /// <summary>Texts, numbers, booleans, objects.</summary>
    Value,

    /// <summary>Places: WKT, be it of a point.</summary>
    Spatial,

    /// <summary>Vectors: arrays of numbers.</summary>
    Vector,
}
