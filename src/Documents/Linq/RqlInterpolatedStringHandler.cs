using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;

namespace Treepie.Linq;

/// <summary>
/// Interpolated string handler for RQL: <c>session.RawQuery&lt;Order&gt;($"from Orders where Freight > {least}")</c>.
/// Interpolated values become query parameters and never part of the text, so they cannot change the meaning of the query.
/// </summary>
[InterpolatedStringHandler]
public readonly struct RqlInterpolatedStringHandler
{
    private readonly StringBuilder _text;
    private readonly List<object?> _values;

    /// <summary>Creates a handler; called by the compiler.</summary>
    public RqlInterpolatedStringHandler(int literalLength, int formattedCount)
    {
        _text = new StringBuilder(literalLength + (formattedCount * 4));
        _values = new List<object?>(formattedCount);
    }

    internal string Text => _text.ToString();

    internal IReadOnlyList<object?> Values => _values;

    /// <summary>Appends literal text.</summary>
    public void AppendLiteral(string value) => _text.Append(value);

    /// <summary>Appends a parameter with the specified value.</summary>
    /// <exception cref="ArgumentException">The interpolated value is inside quotes.</exception>
    public void AppendFormatted<T>(T value)
    {
        if (_text.Length > 0 && _text[^1] is '\'' or '"')
            throw new ArgumentException(
                "A hole of an RQL string is a parameter and needs no quotes: write where City = {city}, not where City = "
                    + "'{city}'.");
        _text.Append(CultureInfo.InvariantCulture, $"$p{_values.Count}");
        _values.Add(value);
    }
}
