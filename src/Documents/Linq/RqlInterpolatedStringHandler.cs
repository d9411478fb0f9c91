using System.Runtime.CompilerServices;

namespace Treepie.Linq;

/// <summary>
/// Interpolated string handler for RQL: <c>session.RawQuery&lt;Order&gt;($"from Orders where Freight > {least}")</c>.
/// Interpolated values become query parameters and never part of the text, so they cannot change the meaning of the query.
/// </summary>
[InterpolatedStringHandler]
public readonly struct RqlInterpolatedStringHandler
{
    private readonly InterpolatedRql _rql;

    /// <summary>Creates a handler; called by the compiler.</summary>
    public RqlInterpolatedStringHandler(int literalLength, int formattedCount) =>
        _rql = new InterpolatedRql(literalLength + (formattedCount * 4));

    internal InterpolatedRql Rql => _rql ?? throw new ArgumentException("The RQL is empty. Give an interpolated string.");

    /// <summary>Appends literal text.</summary>
    /// <exception cref="ArgumentException">The text continues the name of a parameter.</exception>
    public void AppendLiteral(string value)
    {
        ArgumentNullException.ThrowIfNull(value);
        Rql.AddText(value);
    }

    /// <summary>Appends a parameter with the specified value.</summary>
    /// <exception cref="ArgumentException">The interpolated value is inside quotes.</exception>
    public void AppendFormatted<T>(T value) => Rql.AddValue(value);
}
