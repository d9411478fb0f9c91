namespace Treepie.Indexing.Spatial;

/// <summary>
/// A point as an index stores it: 32 bits for each axis, at most 4.7 mm from the original point (360° / 2³² are 9.3 mm on
/// the equator, 180° / 2³² are 4.7 mm). Longitude 180 is −180. The grid is also the square that <see cref="HilbertCurve"/>
/// fills. A step is less than 10⁻⁷ degrees, so a coordinate of up to 7 decimals is read back exactly as given, and remains
/// on a border on which it was placed; one with more decimals is read back to within a step.
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

    /// <summary>The cell on the curve: close cells are close points.</summary>
    public ulong Cell => HilbertCurve.Encode(X, Y);

    public static GridPoint Of(GeoPoint point) => new(
        unchecked((uint)(ulong)Math.Round((point.Longitude + 180) / DegreesPerX)),
        (uint)Math.Min(uint.MaxValue, Math.Round((point.Latitude + 90) / DegreesPerY)));

    public static double LongitudeOf(uint x) => Said((x * DegreesPerX) - 180, DegreesPerX);

    public static double LatitudeOf(uint y) => y == uint.MaxValue ? 90 : Said((y * DegreesPerY) - 90, DegreesPerY);

    /// <summary>
    /// Of the coordinates that are stored as a step, returns the one with 7 decimals if there is one; otherwise the
    /// coordinate of the step.
    /// </summary>
    private static double Said(double degrees, double step)
    {
        double said = Math.Round(degrees, 7);
        return Math.Abs(said - degrees) <= HalfStep * step ? said : degrees;
    }
}
