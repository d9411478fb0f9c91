namespace Treepie.Indexing.Spatial;

/// <summary>The place of a hit in an order by distance.</summary>
/// <param name="DistanceKm">From where the order measures, kilometres.</param>
/// <param name="Point">Its nearest place, or the centre of its shape, to seven digits of a degree (1 cm), which is what the index
/// keeps.</param>
public readonly record struct PlaceOfHit(double DistanceKm, GeoPoint Point);
