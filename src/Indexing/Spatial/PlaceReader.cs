using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Spatial;

/// <summary>
/// Looks up the points of entries. Of several values the nearest counts; the point of a shape is its centre. Ascending
/// entries are cheap. One thread at a time; valid as long as its cursor.
/// </summary>
internal sealed class PlaceReader(ChunkCursor column, Tree? shapes)
{
    private readonly byte[] _key = new byte[EntryKey.Bytes];

    /// <summary>Reads a chunk by its number, see <see cref="PointChunk"/>.</summary>
    public PointChunk Chunk(long number) => new(column.Read(number));

    /// <summary>
    /// Finds the point of an entry that is nearest to a centre, and the haversine between them (see <see cref="Earth"/>);
    /// false if the entry has none.
    /// </summary>
    public bool TryNearest(long id, in CentreOnGrid centre, out GridPoint nearest, out double haversine)
    {
        PointChunk chunk = Chunk(id >> PointChunk.EntryBits);
        int slot = (int)(id & (PointChunk.Entries - 1));
        nearest = default;
        haversine = double.PositiveInfinity;
        if ((chunk.Points >> slot & 1) != 0)
        {
            nearest = chunk[slot];
            haversine = centre.Haversine(nearest.X, nearest.Y);
            return true;
        }

        if ((chunk.Shapes >> slot & 1) == 0)
            return false;

        ReadOnlySpan<byte> record = Record(id);
        while (!record.IsEmpty)
        {
            Geometry? shape = GeometryRecord.Read(ref record, out GridPoint place);
            if (shape is not null)
                place = GridPoint.Of(shape.Centre);
            double h = centre.Haversine(place.X, place.Y);
            if (h < haversine)
            {
                haversine = h;
                nearest = place;
            }
        }

        return true;
    }

    /// <summary>Returns all values of an entry.</summary>
    public List<Geometry> All(long id)
    {
        PointChunk chunk = Chunk(id >> PointChunk.EntryBits);
        int slot = (int)(id & (PointChunk.Entries - 1));
        if ((chunk.Points >> slot & 1) != 0)
            return [Geometry.Point(chunk[slot].Point)];

        var places = new List<Geometry>();
        for (ReadOnlySpan<byte> record = (chunk.Shapes >> slot & 1) != 0 ? Record(id) : default; !record.IsEmpty;)
            places.Add(GeometryRecord.Read(ref record, out GridPoint place) ?? Geometry.Point(place.Point));
        return places;
    }

    /// <summary>Whether a value of an entry in the tree of shapes has the required relation.</summary>
    public bool AnyHolds(long id, SpatialRelation relation, Geometry wanted, CancellationToken cancellationToken = default)
    {
        ReadOnlySpan<byte> record = Record(id);
        while (!record.IsEmpty)
        {
            Geometry? shape = GeometryRecord.Read(ref record, out GridPoint place);
            bool holds = shape is null
                ? GeometryRelations.Holds(relation, new Vertex(place.Longitude, place.Latitude), wanted)
                : GeometryRelations.Holds(relation, shape, wanted, cancellationToken);
            if (holds)
                return true;
        }

        return false;
    }

    private ReadOnlySpan<byte> Record(long id)
    {
        EntryKey.Write(_key, id);
        return shapes is not null && shapes.TryGet(_key, out ReadOnlySpan<byte> record)
            ? record
            : throw new Storage.CorruptionException(
                $"The index misses the shapes of entry {id}. Reset the index to build it again.");
    }
}
