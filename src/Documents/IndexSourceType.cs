namespace Treepie;

/// <summary>What the entries of an index are made from.</summary>
public enum IndexSourceType
{
    /// <summary>Documents.</summary>
    Documents,

    /// <summary>Segments of time series.</summary>
    TimeSeries,

    /// <summary>Counters.</summary>
    Counters,
}
