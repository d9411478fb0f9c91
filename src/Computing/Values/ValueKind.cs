namespace Treepie.Computing.Values;

/// <summary>The kind of a <see cref="Value"/>.</summary>
internal enum ValueKind : byte
{
    /// <summary>No value.</summary>
    Missing,

    /// <summary>An explicit null.</summary>
    Null,

    /// <summary>true or false.</summary>
    Boolean,

    /// <summary>A 64-bit integer.</summary>
    Long,

    /// <summary>A binary floating-point number.</summary>
    Double,

    /// <summary>A decimal number.</summary>
    Decimal,

    /// <summary>A string.</summary>
    String,

    /// <summary>A point in time; a string in JSON.</summary>
    Time,

    /// <summary>A time span; a string in JSON.</summary>
    Span,

    /// <summary>A sequence of values.</summary>
    Array,

    /// <summary>An object with named members.</summary>
    Object,
}
