namespace Treepie.Linq;

/// <summary>
/// The sum, average, least or greatest of values given one by one, as LINQ has them. Null values count for nothing.
/// </summary>
/// <param name="name">The name of the LINQ operator.</param>
/// <param name="type">The type of the values.</param>
internal sealed class RowAggregate(string name, Type type)
{
    private readonly TypeCode _kind = Type.GetTypeCode(Nullable.GetUnderlyingType(type) ?? type);
    private long _count;
    private long _whole;
    private double _real;
    private decimal _decimal;
    private object? _extreme;

    /// <summary>The result.</summary>
    /// <exception cref="InvalidOperationException">There were no values, and the type has no null.</exception>
    public object? Result
    {
        get
        {
            if (_count == 0 && name != "Sum")
                return !type.IsValueType || Nullable.GetUnderlyingType(type) is not null
                    ? null
                    : throw new InvalidOperationException(
                        $"The query has no values, so {name} has none. Ask for a type with null, 'x => (int?)x.Member', where "
                            + "there may be none.");
            if (name is "Min" or "Max")
                return _extreme;
            bool sums = name == "Sum";
            return _kind switch
            {
                TypeCode.Int32 => sums ? (object)checked((int)_whole) : (double)_whole / _count,
                TypeCode.Int64 => sums ? (object)_whole : (double)_whole / _count,
                TypeCode.Single => (float)(sums ? _real : _real / _count),
                TypeCode.Double => sums ? _real : _real / _count,
                TypeCode.Decimal => sums ? _decimal : _decimal / _count,
                _ => throw NoNumber(),
            };
        }
    }

    /// <summary>Adds a value.</summary>
    public void Add(object? value)
    {
        if (value is null)
            return;
        _count++;
        if (name is "Min" or "Max")
        {
            int order = Comparer<object>.Default.Compare(value, _extreme);
            if (_count == 1 || (name == "Min" ? order < 0 : order > 0))
                _extreme = value;
            return;
        }

        switch (value)
        {
            case int number:
                _whole = checked(_whole + number);
                break;
            case long number:
                _whole = checked(_whole + number);
                break;
            case float number:
                _real += number;
                break;
            case double number:
                _real += number;
                break;
            case decimal number:
                _decimal += number;
                break;
            default:
                throw NoNumber();
        }
    }

    private NotSupportedException NoNumber() =>
        new($"The query cannot translate '{name}' of {type.Name}. Sums and averages are of int, long, float, double and decimal: "
            + "convert the member in the function.");
}
