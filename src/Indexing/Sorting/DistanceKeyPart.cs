using Treepie.Indexing.Kernels;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Sorting;

/// <summary>
/// A key part from the distance of the nearest value. Entries without a place are last in both directions, unless nulls are
/// requested first.
/// </summary>
internal sealed class DistanceKeyPart : KeyPart
{
    private readonly PlaceReader _places;
    private readonly SortKey _sort;
    private readonly CentreOnGrid _centre;
    private readonly byte _nullRank;

    public DistanceKeyPart(PlaceReader places, SortKey sort)
    {
        _places = places;
        _sort = sort;
        _centre = CentreOf(sort);
        _nullRank = sort.NullsFirst == true ? NullsFirstRank : NullsLastRank;
    }

    /// <summary>Returns the centre of an order by distance.</summary>
    /// <exception cref="IndexQueryException">The order has no centre, or an invalid rounding.</exception>
    public static CentreOnGrid CentreOf(SortKey sort)
    {
        if (sort.Centre is not { } centre)
            throw new IndexQueryException($"The order by distance of '{sort.Field}' does not say from where.");
        if (!(sort.RoundToKm >= 0 && double.IsFinite(sort.RoundToKm)))
            throw new IndexQueryException($"Distances are rounded to a number of at least 0; {sort.RoundToKm} is not.");
        return new CentreOnGrid(centre.Latitude * Earth.Radians, centre.Longitude * Earth.Radians);
    }

    /// <summary>A number that increases with the distance and is equal for distances that round to the same value.</summary>
    public static double Rank(double haversine, double roundToKm) =>
        roundToKm > 0 ? Math.Floor(Earth.ToKm(haversine) / roundToKm) : haversine;

    public override void Append(long id, float score, KeyBuffer key)
    {
        if (!_places.TryNearest(id, _centre, out _, out double haversine))
        {
            key.Append(_nullRank);
            return;
        }

        // Non-negative doubles sort like their bits.
        ulong bits = BitConverter.DoubleToUInt64Bits(Rank(haversine, _sort.RoundToKm));
        key.Append(ValueRank);
        key.Append(_sort.Descending ? ~bits : bits);
    }
}
