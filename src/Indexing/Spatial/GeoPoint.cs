using System.Globalization;

namespace Treepie.Indexing.Spatial;

/// <summary>A point on the earth, in degrees (WGS 84).</summary>
/// <param name="Latitude">The latitude, −90 (south pole) to 90.</param>
/// <param name="Longitude">The longitude, −180 to 180; both ends are the same meridian.</param>
public readonly record struct GeoPoint(double Latitude, double Longitude)
{
    /// <summary>Creates a point after validating its coordinates.</summary>
    /// <exception cref="InvalidGeometryException">A coordinate is not a number or out of range.</exception>
    public static GeoPoint Of(double latitude, double longitude)
    {
        if (!(latitude is >= -90 and <= 90))
            throw new InvalidGeometryException(
                string.Create(CultureInfo.InvariantCulture, $"A latitude is a number from -90 to 90; {latitude} is not."));
        if (!(longitude is >= -180 and <= 180))
            throw new InvalidGeometryException(
                string.Create(CultureInfo.InvariantCulture, $"A longitude is a number from -180 to 180; {longitude} is not."));
        return new GeoPoint(latitude, longitude);
    }
}
