namespace Treepie.Sessions;

/// <summary>
/// Maps a property to a value of the entries of a time series: <c>[TimeSeriesValue(0)] public double Open { get; set; }</c>.
/// </summary>
/// <param name="index">The position among the values of an entry, starting at 0.</param>
[AttributeUsage(AttributeTargets.Property)]
public sealed class TimeSeriesValueAttribute(int index) : Attribute
{
    /// <summary>The position among the values of an entry, starting at 0.</summary>
    public int Index { get; } = index;
}
