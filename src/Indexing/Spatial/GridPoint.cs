namespace Treepie.Indexing.Spatial;

/// <summary>
/// A place as an index keeps it: 32 bits for each axis, which is at most 4.7 mm from where it was said to be (360° / 2³² are 9.3 mm on the equator, 180° / 2³² are 4.7 mm).
/// Longitude 180 is −180. The grid is also the square that <see cref="HilbertCurve"/> runs through.
/// </summary>
/// <param name="X">Longitude, from −180 on.</param>
/// <param name="Y">Latitude, from −90 on; the last one is the north pole itself.</param>
internal readonly record struct GridPoint(uint X, uint Y)
{
    public const double DegreesPerX = 360.0 / 4294967296.0;
    public const double DegreesPerY = 180.0 / 4294967296.0;

    public double Longitude => LongitudeOf(X);

    public double Latitude => LatitudeOf(Y);

    public GeoPoint Point => new(Latitude, Longitude);

    /// <summary>Place on the curve: near cells are near places.</summary>
    public ulong Cell => HilbertCurve.Encode(X, Y);

    public static GridPoint Of(GeoPoint point) => new(
        unchecked((uint)(ulong)Math.Round((point.Longitude + 180) / DegreesPerX)),
        (uint)Math.Min(uint.MaxValue, Math.Round((point.Latitude + 90) / DegreesPerY)));

    public static double LongitudeOf(uint x) => (x * DegreesPerX) - 180;

    public static double LatitudeOf(uint y) => y == uint.MaxValue ? 90 : (y * DegreesPerY) - 90;
}
