namespace Treepie.Computing.Values;

/// <summary>What a <see cref="Value"/> is.</summary>
internal enum ValueKind : byte
{
    /// <summary>Nothing is there.</summary>
    Missing,

    /// <summary>An explicit null.</summary>
    Null,

    /// <summary>true or false.</summary>
    Boolean,

    /// <summary>A whole number of 64 bits.</summary>
    Long,

    /// <summary>A binary floating-point number.</summary>
    Double,

    /// <summary>A decimal number.</summary>
    Decimal,

    /// <summary>A text.</summary>
    String,

    /// <summary>A point in time; as JSON a text.</summary>
    Time,

    /// <summary>A length of time; as JSON a text.</summary>
    Span,

    /// <summary>Values one after the other.</summary>
    Array,

    /// <summary>Members with names.</summary>
    Object,
}
