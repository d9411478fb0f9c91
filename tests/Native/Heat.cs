using Treepie.Sessions;

namespace Treepie.NativeProgram;

/// <summary>Values of a time series that have names.</summary>
internal sealed class Heat
{
    [TimeSeriesValue(0)]
    public double Inside { get; set; }

    [TimeSeriesValue(1)]
    public double Outside { get; set; }
}
