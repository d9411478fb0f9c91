namespace Treepie;

/// <summary>The source of the entries of an index.</summary>
public enum IndexSourceType
{
    /// <summary>Documents.</summary>
    Documents,

    /// <summary>Segments of time series.</summary>
    TimeSeries,

    /// <summary>Counters.</summary>
    Counters,
}
