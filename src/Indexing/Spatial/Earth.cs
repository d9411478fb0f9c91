namespace Treepie.Indexing.Spatial;

/// <summary>
/// Computes distances on a sphere of the earth's mean radius, with the haversine formula:
/// <c>h = sin²(Δlat / 2) + cos(lat₁) · cos(lat₂) · sin²(Δlng / 2)</c>, <c>d = 2 · R · asin(√h)</c>. It is exact on the sphere for
/// short and long distances; because of the earth's flattening, true distances differ by up to 0.6 %. h increases with d, so
/// distances are compared by h, mostly without computing the inverse sine.
/// </summary>
public static class Earth
{
    /// <summary>The mean radius (IUGG) in kilometres.</summary>
    public const double RadiusKm = 6371.0087714;

    /// <summary>The number of kilometres in an international mile.</summary>
    public const double KmPerMile = 1.609344;

    /// <summary>The maximum distance in kilometres: half the circumference.</summary>
    public const double MaxDistanceKm = Math.PI * RadiusKm;

    internal const double Radians = Math.PI / 180;

    /// <summary>Returns the distance between two points in kilometres.</summary>
    public static double DistanceKm(GeoPoint from, GeoPoint to) => ToKm(Haversine(from, to));

    /// <summary>The haversine h of two points, 0 to 1.</summary>
    internal static double Haversine(GeoPoint from, GeoPoint to) =>
        Haversine(from.Latitude, to.Latitude, to.Longitude - from.Longitude);

    /// <summary>The haversine h of two latitudes and a difference of longitudes, all in degrees.</summary>
    internal static double Haversine(double latitude1, double latitude2, double longitudes)
    {
        double sinLatitude = Math.Sin((latitude2 - latitude1) * (Radians / 2));
        double sinLongitude = Math.Sin(longitudes * (Radians / 2));
        return (sinLatitude * sinLatitude)
            + (Math.Cos(latitude1 * Radians) * Math.Cos(latitude2 * Radians) * sinLongitude * sinLongitude);
    }

    /// <summary>The distance in kilometres for a haversine h.</summary>
    internal static double ToKm(double haversine) => 2 * RadiusKm * Math.Asin(Math.Sqrt(Math.Min(1, haversine)));

    /// <summary>The haversine h of a distance; above 1 if no point is that far away.</summary>
    internal static double OfKm(double distanceKm)
    {
        if (distanceKm >= MaxDistanceKm)
            return 2;
        double sin = Math.Sin(distanceKm / (2 * RadiusKm));
        return sin * sin;
    }
}
