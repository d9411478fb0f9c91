namespace Treepie.Indexing.Spatial;

/// <summary>The place of a hit in an order by distance.</summary>
/// <param name="DistanceKm">The distance in kilometres from the centre of the order.</param>
/// <param name="Point">The nearest point, or the centre of the shape, to seven decimals of a degree (1 cm), the precision of the
/// index.</param>
public readonly record struct PlaceOfHit(double DistanceKm, GeoPoint Point);
