using System.Globalization;

namespace Treepie.Computing.Values;

/// <summary>
/// The value type of computations: JSON values, times and time spans. A number from a document keeps its text form. Values
/// are equal if they represent the same: numbers of any kind by value, strings by their characters, arrays and objects by
/// their contents; null and missing are equal.
/// </summary>
internal readonly struct Value : IEquatable<Value>
{
    private readonly object? _reference;
    private readonly long _bits;

    private Value(ValueKind kind, long bits, object? reference)
    {
        Kind = kind;
        _bits = bits;
        _reference = reference;
    }

    public static Value Missing => default;

    public static Value Null { get; } = new(ValueKind.Null, 0, null);

    public static Value True { get; } = new(ValueKind.Boolean, 1, null);

    public static Value False { get; } = new(ValueKind.Boolean, 0, null);

    public ValueKind Kind { get; }

    /// <summary>Whether it is null or missing.</summary>
    public bool IsNothing => Kind <= ValueKind.Null;

    public bool IsNumber => Kind is ValueKind.Long or ValueKind.Double or ValueKind.Decimal;

    /// <summary>Whether it is the boolean true.</summary>
    public bool IsTrue => Kind == ValueKind.Boolean && _bits != 0;

    public long Long => _bits;

    /// <summary>The text form of a number in a document, if it is more precise than the value.</summary>
    public string? Spelling => Kind == ValueKind.Double ? _reference as string : null;

    public string Text => (string)_reference!; // a string

    public DateTime Time => DateTime.FromBinary(_bits);

    public TimeSpan Span => new(_bits);

    public IEnumerable<Value> Items => (IEnumerable<Value>)_reference!; // an array

    public IValueMembers Members => (IValueMembers)_reference!; // an object

    public static Value Of(bool value) => value ? True : False;

    public static Value Of(long value) => new(ValueKind.Long, value, null);

    public static Value Of(double value, string? spelling = null) =>
        new(ValueKind.Double, BitConverter.DoubleToInt64Bits(value), spelling);

    public static Value Of(decimal value) => new(ValueKind.Decimal, 0, value);

    public static Value Of(string? value) => value is null ? Null : new Value(ValueKind.String, 0, value);

    public static Value Of(DateTime value) => new(ValueKind.Time, value.ToBinary(), null);

    public static Value Of(TimeSpan value) => new(ValueKind.Span, value.Ticks, null);

    public static Value Of(IEnumerable<Value> items) => new(ValueKind.Array, 0, items);

    public static Value Of(IValueMembers members) => new(ValueKind.Object, 0, members);

    /// <summary>Returns the number as a double.</summary>
    public double AsDouble() => Kind switch
    {
        ValueKind.Long => _bits,
        ValueKind.Double => BitConverter.Int64BitsToDouble(_bits),
        _ => (double)(decimal)_reference!, // a decimal
    };

    /// <summary>Returns the number as a decimal, from its text form if it has one.</summary>
    public decimal AsDecimal()
    {
        try
        {
            return Kind switch
            {
                ValueKind.Long => _bits,
                ValueKind.Double
                    when _reference is string text
                        && decimal.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out decimal exact) => exact,
                ValueKind.Double => (decimal)AsDouble(),
                _ => (decimal)_reference!, // a decimal
            };
        }
        catch (OverflowException)
        {
            throw new ComputingException($"{AsDouble().ToString(CultureInfo.InvariantCulture)} is too large for a decimal.");
        }
    }

    /// <summary>
    /// Returns the elements: none for null or missing; for an object its members as <c>Key</c> and <c>Value</c>.
    /// </summary>
    public IEnumerable<Value> Elements() => Kind switch
    {
        ValueKind.Array => Items,
        ValueKind.Missing or ValueKind.Null => [],
        ValueKind.Object =>
            Members.All().Select(static member => Of(new ValueObject().With("Key", Of(member.Key)).With("Value", member.Value))),
        _ => throw new ComputingException($"{Describe()} has no elements: an array is expected."),
    };

    /// <summary>Describes the value, for messages.</summary>
    public string Describe() => Kind switch
    {
        ValueKind.Missing or ValueKind.Null => "null",
        ValueKind.Boolean => "a boolean",
        ValueKind.Long or ValueKind.Double or ValueKind.Decimal => "a number",
        ValueKind.String => "a string",
        ValueKind.Time => "a time",
        ValueKind.Span => "a length of time",
        ValueKind.Array => "an array",
        _ => "an object",
    };

    public bool Equals(Value other)
    {
        if (IsNothing || other.IsNothing)
            return IsNothing && other.IsNothing;
        if (IsNumber && other.IsNumber)
            return ValueOrder.CompareNumbers(this, other) == 0;
        if (Kind != other.Kind)
            return Kind == ValueKind.Time && other.Kind == ValueKind.String ? other.Equals(this)
                : Kind == ValueKind.String
                    && other.Kind == ValueKind.Time
                    && TimeTexts.TryParse(Text, out DateTime time)
                    && time == other.Time;
        return Kind switch
        {
            ValueKind.String => TextsEqual(other),
            ValueKind.Array => ItemsEqual(other),
            ValueKind.Object => MembersEqual(other),
            ValueKind.Time => Time == other.Time,
            _ => _bits == other._bits,
        };
    }

    public override bool Equals(object? obj) => obj is Value value && Equals(value);

    public override int GetHashCode() => Kind switch
    {
        ValueKind.Missing or ValueKind.Null => 0,
        ValueKind.Long or ValueKind.Double or ValueKind.Decimal => AsDouble().GetHashCode(),
        ValueKind.String => HashOfText(),
        ValueKind.Array => Items.Aggregate(7, static (hash, item) => (hash * 31) + item.HashAsPart()),
        ValueKind.Object => Members.All()
            .Where(static member => !member.Value.IsNothing) // as equality ignores them
            .Aggregate(
                3,
                static (hash, member) => hash + (member.Key.GetHashCode(StringComparison.Ordinal) ^ member.Value.HashAsPart())),
        ValueKind.Time => Time.Ticks.GetHashCode(),
        _ => _bits.GetHashCode(),
    };

    private bool TextsEqual(Value other)
    {
        if (Text.Length != other.Text.Length)
            return false;
        Comparisons.Characters(Text.Length);
        return Text == other.Text;
    }

    private int HashOfText()
    {
        Comparisons.Characters(Text.Length);
        return Text.GetHashCode(StringComparison.Ordinal);
    }

    private int HashAsPart()
    {
        Comparisons.Count(1);
        return GetHashCode();
    }

    private bool ItemsEqual(Value other)
    {
        using IEnumerator<Value> theirs = other.Items.GetEnumerator();
        foreach (Value item in Items)
        {
            Comparisons.Count(1);
            if (!theirs.MoveNext() || !item.Equals(theirs.Current))
                return false;
        }

        return !theirs.MoveNext();
    }

    private bool MembersEqual(Value other)
    {
        Comparisons.Count(1);
        List<KeyValuePair<string, Value>> own = [.. Members.All().Where(m => !m.Value.IsNothing)],
            others = [.. other.Members.All().Where(m => !m.Value.IsNothing)];
        IValueMembers theirs = other.Members;
        return own.Count == others.Count && own.TrueForAll(member => AreSameParts(member.Value, theirs.Get(member.Key)));
    }

    private static bool AreSameParts(Value one, Value other)
    {
        Comparisons.Count(1);
        return one.Equals(other);
    }
}
