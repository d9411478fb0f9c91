namespace Treepie.Indexing.Queries;

/// <summary>A value that a query compares with: text, a long, a double, a boolean, or null.</summary>
public readonly record struct FieldValue
{
    private readonly long _bits;

    private FieldValue(FieldValueKind kind, string? text, long bits)
    {
        Kind = kind;
        Text = text;
        _bits = bits;
    }

    /// <summary>Null.</summary>
    public static FieldValue Null => default;

    /// <summary>What it is.</summary>
    public FieldValueKind Kind { get; }

    /// <summary>The text of a <see cref="FieldValueKind.Text"/>.</summary>
    public string? Text { get; }

    /// <summary>The number of a <see cref="FieldValueKind.Long"/>.</summary>
    public long Long => _bits;

    /// <summary>The number of a <see cref="FieldValueKind.Double"/>.</summary>
    public double Double => BitConverter.Int64BitsToDouble(_bits);

    /// <summary>The truth of a <see cref="FieldValueKind.Boolean"/>.</summary>
    public bool Boolean => _bits != 0;

    /// <summary>A text value.</summary>
    public static FieldValue Of(string text) => new(FieldValueKind.Text, text, 0);

    /// <summary>A whole number.</summary>
    public static FieldValue Of(long value) => new(FieldValueKind.Long, null, value);

    /// <summary>A number.</summary>
    public static FieldValue Of(double value) => new(FieldValueKind.Double, null, BitConverter.DoubleToInt64Bits(value));

    /// <summary>A boolean.</summary>
    public static FieldValue Of(bool value) => new(FieldValueKind.Boolean, null, value ? 1 : 0);
}

/// <summary>Kinds of <see cref="FieldValue"/>.</summary>
public enum FieldValueKind
{
    /// <summary>Null.</summary>
    Null,

    /// <summary>Text.</summary>
    Text,

    /// <summary>A 64-bit whole number.</summary>
    Long,

    /// <summary>A double.</summary>
    Double,

    /// <summary>A boolean.</summary>
    Boolean,
}
