namespace Treepie.Indexing.Queries;

/// <summary>A value in a query: text, a long, a double, a boolean, or null.</summary>
public readonly record struct FieldValue
{
    private readonly long _bits;

    private FieldValue(FieldValueKind kind, string? text, long bits)
    {
        Kind = kind;
        Text = text;
        _bits = bits;
    }

    /// <summary>The null value.</summary>
    public static FieldValue Null => default;

    /// <summary>The type of the value.</summary>
    public FieldValueKind Kind { get; }

    /// <summary>The value of a <see cref="FieldValueKind.Text"/>.</summary>
    public string? Text { get; }

    /// <summary>The value of a <see cref="FieldValueKind.Long"/>.</summary>
    public long Long => _bits;

    /// <summary>The value of a <see cref="FieldValueKind.Double"/>.</summary>
    public double Double => BitConverter.Int64BitsToDouble(_bits);

    /// <summary>The value of a <see cref="FieldValueKind.Boolean"/>.</summary>
    public bool Boolean => _bits != 0;

    /// <summary>Creates a text value.</summary>
    public static FieldValue Of(string text) => new(FieldValueKind.Text, text, 0);

    /// <summary>Creates an integer value.</summary>
    public static FieldValue Of(long value) => new(FieldValueKind.Long, null, value);

    /// <summary>Creates a double value.</summary>
    public static FieldValue Of(double value) => new(FieldValueKind.Double, null, BitConverter.DoubleToInt64Bits(value));

    /// <summary>Creates a boolean value.</summary>
    public static FieldValue Of(bool value) => new(FieldValueKind.Boolean, null, value ? 1 : 0);
}

/// <summary>The types of <see cref="FieldValue"/>.</summary>
public enum FieldValueKind
{
    /// <summary>Null.</summary>
    Null,

    /// <summary>Text.</summary>
    Text,

    /// <summary>A 64-bit integer.</summary>
    Long,

    /// <summary>A double.</summary>
    Double,

    /// <summary>A boolean.</summary>
    Boolean,
}
