using System.Globalization;

namespace Treepie.Indexing.Spatial;

/// <summary>A place on the earth, in degrees (WGS 84).</summary>
/// <param name="Latitude">−90 (south pole) to 90.</param>
/// <param name="Longitude">−180 to 180; both ends are the same meridian.</param>
public readonly record struct GeoPoint(double Latitude, double Longitude)
{
    /// <summary>A place with its coordinates checked.</summary>
    /// <exception cref="InvalidGeometryException">One is not a number or outside its range.</exception>
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
