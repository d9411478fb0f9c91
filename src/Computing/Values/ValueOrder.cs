namespace Treepie.Computing.Values;

/// <summary>
/// The order of values: null or missing, booleans, numbers, times, time spans, strings; all others come last and are equal.
/// </summary>
internal sealed class ValueOrder : IComparer<Value>
{
    public static ValueOrder Instance { get; } = new();

    public int Compare(Value x, Value y)
    {
        int left = Rank(x), right = Rank(y);
        if (left != right)
            return left.CompareTo(right);
        return left switch
        {
            1 => x.Long.CompareTo(y.Long),
            2 => CompareNumbers(x, y),
            3 => x.Time.CompareTo(y.Time),
            4 => x.Span.CompareTo(y.Span),
            5 => CompareTexts(x.Text, y.Text),
            _ => 0,
        };
    }

    private static int CompareTexts(string x, string y)
    {
        Comparisons.Characters(Math.Min(x.Length, y.Length));
        return string.CompareOrdinal(x, y);
    }

    public static int CompareNumbers(Value x, Value y)
    {
        if (x.Kind == ValueKind.Long && y.Kind == ValueKind.Long)
            return x.Long.CompareTo(y.Long);
        if (x.Kind == ValueKind.Double || y.Kind == ValueKind.Double)
        {
            // Compare exactly where the conversion of a long to a double could lose digits.
            double left = x.AsDouble(), right = y.AsDouble();
            if (left != right
                || Math.Abs(left) < 1L << 53
                || double.IsInfinity(left)
                || double.IsNaN(left)
                || Math.Abs(left) > 7e28)
                return left.CompareTo(right);
        }

        return x.AsDecimal().CompareTo(y.AsDecimal());
    }

    private static int Rank(Value value) => value.Kind switch
    {
        ValueKind.Missing or ValueKind.Null => 0,
        ValueKind.Boolean => 1,
        ValueKind.Long or ValueKind.Double or ValueKind.Decimal => 2,
        ValueKind.Time => 3,
        ValueKind.Span => 4,
        ValueKind.String => 5,
        _ => 6,
    };
}
