namespace Treepie.Sessions;

/// <summary>
/// Says which value of a time series' entries a property is: <c>[TimeSeriesValue(0)] public double Open { get; set; }</c>.
/// </summary>
/// <param name="index">Its place among the values of an entry, from 0 on.</param>
[AttributeUsage(AttributeTargets.Property)]
public sealed class TimeSeriesValueAttribute(int index) : Attribute
{
    /// <summary>Its place among the values of an entry, from 0 on.</summary>
    public int Index { get; } = index;
}
