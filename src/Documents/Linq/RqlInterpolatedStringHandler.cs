using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;

namespace Treepie.Linq;

/// <summary>
/// RQL as an interpolated string, whose holes become parameters: <c>session.RawQuery&lt;Order&gt;($"from Orders where Freight >
/// {least}")</c>. What stands in a hole is a value and never a part of the text, so nothing that is put there can change what the
/// query means.
/// </summary>
[InterpolatedStringHandler]
public readonly struct RqlInterpolatedStringHandler
{
    private readonly StringBuilder _text;
    private readonly List<object?> _values;

    /// <summary>Begins one; called by the compiler.</summary>
    public RqlInterpolatedStringHandler(int literalLength, int formattedCount)
    {
        _text = new StringBuilder(literalLength + (formattedCount * 4));
        _values = new List<object?>(formattedCount);
    }

    internal string Text => _text.ToString();

    internal IReadOnlyList<object?> Values => _values;

    /// <summary>Adds a piece of the text.</summary>
    public void AppendLiteral(string value) => _text.Append(value);

    /// <summary>Adds a parameter.</summary>
    /// <exception cref="ArgumentException">The hole stands in quotes.</exception>
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
