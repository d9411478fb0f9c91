namespace Treepie.Indexing.Spatial;

/// <summary>
/// A place as an index stores it: 32 bits for each axis, which is at most 4.7 mm from the original place (360° / 2³² are 9.3
/// mm on the equator, 180° / 2³² are 4.7 mm). Longitude 180 is −180. The grid is also the square that <see cref="HilbertCurve"/>
/// runs through. A step is less than 10⁻⁷ degrees, so a coordinate of up to 7 decimals is read back as it was said, and lies on a
/// border if it was said to; one of more decimals is read back within a step.
/// </summary>
/// <param name="X">Longitude, from −180 on.</param>
/// <param name="Y">Latitude, from −90 on; the last one is the north pole itself.</param>
internal readonly record struct GridPoint(uint X, uint Y)
{
    public const double DegreesPerX = 360.0 / 4294967296.0;
    public const double DegreesPerY = 180.0 / 4294967296.0;

    /// <summary>Half a step, used for rounding degrees.</summary>
    private const double HalfStep = 0.50001;

    public double Longitude => LongitudeOf(X);

    public double Latitude => LatitudeOf(Y);

    public GeoPoint Point => new(Latitude, Longitude);

    /// <summary>The cell on the curve: near cells are near places.</summary>
    public ulong Cell => HilbertCurve.Encode(X, Y);

    public static GridPoint Of(GeoPoint point) => new(
        unchecked((uint)(ulong)Math.Round((point.Longitude + 180) / DegreesPerX)),
        (uint)Math.Min(uint.MaxValue, Math.Round((point.Latitude + 90) / DegreesPerY)));

    public static double LongitudeOf(uint x) => Said((x * DegreesPerX) - 180, DegreesPerX);

    public static double LatitudeOf(uint y) => y == uint.MaxValue ? 90 : Said((y * DegreesPerY) - 90, DegreesPerY);

    /// <summary>
    /// Of the coordinates stored as a step, the one with 7 decimals if there is one; otherwise the step's own.
    /// </summary>
    private static double Said(double degrees, double step)
    {
        double said = Math.Round(degrees, 7);
        return Math.Abs(said - degrees) <= HalfStep * step ? said : degrees;
    }
}
