using System.Buffers;
using System.Buffers.Binary;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Spatial;

/// <summary>
/// The values of an entry with anything but a single point in a spatial field. Key in the tree <c>shapes.N</c>: entry id. The
/// values follow one another:
/// <code>
/// point   0 (1 byte), X (4), Y (4), little-endian, see GridPoint
/// shape   1 (1 byte), the squares under which it is stored: count (varint), each: first cell (8, little-endian), level (1)
///         then four lists, each with its count (varint):
///           points: corner; lines: chain; polygons: list of chains, the outer ring first;
///           circles: corner of the centre, radius in km (double)
///         a chain is a list of corners; a corner is two doubles, longitude and latitude, little-endian
/// </code>
/// Corners are stored unwrapped across the dateline, so nothing is parsed or checked again. The squares are stored instead of
/// recomputed, so that a shape is removed from exactly the keys under which it was added.
/// </summary>
internal static class GeometryRecord
{
    private const byte PointKind = 0;
    private const byte ShapeKind = 1;
    private const int SquareBytes = 9;
    private const int CornerBytes = 2 * sizeof(double);
    private const int CircleBytes = CornerBytes + sizeof(double);

    public static void Write(GridPoint point, IBufferWriter<byte> output)
    {
        Span<byte> room = output.GetSpan(9);
        room[0] = PointKind;
        BinaryPrimitives.WriteUInt32LittleEndian(room[1..], point.X);
        BinaryPrimitives.WriteUInt32LittleEndian(room[5..], point.Y);
        output.Advance(9);
    }

    public static byte[] Encode(Geometry shape)
    {
        var output = new ArrayBufferWriter<byte>();
        output.Write([ShapeKind]);
        List<CellSquare> squares = CellCover.Squares(shape);
        WriteCount(squares.Count, output);
        foreach (CellSquare square in squares)
        {
            Span<byte> room = output.GetSpan(SquareBytes);
            BinaryPrimitives.WriteUInt64LittleEndian(room, square.First);
            room[8] = (byte)square.Level;
            output.Advance(SquareBytes);
        }

        WriteChain(shape.Points, output);
        WriteCount(shape.Lines.Length, output);
        foreach (Vertex[] line in shape.Lines)
            WriteChain(line, output);
        WriteCount(shape.Polygons.Length, output);
        foreach (Polygon polygon in shape.Polygons)
        {
            WriteCount(polygon.Rings.Length, output);
            foreach (Vertex[] ring in polygon.Rings)
                WriteChain(ring, output);
        }

        WriteCount(shape.Circles.Length, output);
        foreach (Circle circle in shape.Circles)
        {
            WriteDouble(circle.Centre.Longitude, output);
            WriteDouble(circle.Centre.Latitude, output);
            WriteDouble(circle.RadiusKm, output);
        }

        return output.WrittenSpan.ToArray();
    }

    /// <summary>Reads the first value of a record and moves past it.</summary>
    /// <param name="record">The rest of the record.</param>
    /// <param name="point">The point, if the value is one.</param>
    /// <param name="squares">Receives the squares of a shape; null if not needed.</param>
    /// <returns>The shape; null for a point.</returns>
    /// <exception cref="Storage.CorruptionException">The record has other parts than it says.</exception>
    public static Geometry? Read(ref ReadOnlySpan<byte> record, out GridPoint point, List<CellSquare>? squares = null)
    {
        byte kind = RecordReader.Take(ref record, 1)[0];
        point = default;
        if (kind == PointKind)
        {
            ReadOnlySpan<byte> place = RecordReader.Take(ref record, 2 * sizeof(uint));
            point = new GridPoint(
                BinaryPrimitives.ReadUInt32LittleEndian(place), BinaryPrimitives.ReadUInt32LittleEndian(place[sizeof(uint)..]));
            return null;
        }

        if (kind != ShapeKind)
            throw RecordReader.Damaged($"has a value of the unknown kind {kind} in a spatial field");
        ReadOnlySpan<byte> covers = RecordReader.Take(ref record, RecordReader.Count(ref record, SquareBytes) * SquareBytes);
        for (; squares is not null && !covers.IsEmpty; covers = covers[SquareBytes..])
            squares.Add(new CellSquare(BinaryPrimitives.ReadUInt64LittleEndian(covers), covers[SquareBytes - 1]));

        Vertex[] points = ReadChain(ref record);
        var lines = new Vertex[RecordReader.Count(ref record, 1)][];
        for (int i = 0; i < lines.Length; i++)
            lines[i] = ReadChain(ref record);
        var polygons = new Polygon[RecordReader.Count(ref record, 1)];
        for (int i = 0; i < polygons.Length; i++)
        {
            var rings = new Vertex[RecordReader.Count(ref record, 1)][];
            if (rings.Length == 0)
                throw RecordReader.Damaged("has a polygon without a ring");
            for (int j = 0; j < rings.Length; j++)
                rings[j] = ReadChain(ref record);
            polygons[i] = new Polygon(rings);
        }

        var circles = new Circle[RecordReader.Count(ref record, CircleBytes)];
        for (int i = 0; i < circles.Length; i++)
        {
            double longitude = ReadDouble(ref record);
            double latitude = ReadDouble(ref record);
            circles[i] = new Circle(new GeoPoint(latitude, longitude), ReadDouble(ref record));
        }

        return new Geometry(points, lines, polygons, circles);
    }

    private static void WriteChain(Vertex[] chain, ArrayBufferWriter<byte> output)
    {
        WriteCount(chain.Length, output);
        foreach (Vertex vertex in chain)
        {
            WriteDouble(vertex.X, output);
            WriteDouble(vertex.Y, output);
        }
    }

    private static Vertex[] ReadChain(ref ReadOnlySpan<byte> record)
    {
        var chain = new Vertex[RecordReader.Count(ref record, CornerBytes)];
        for (int i = 0; i < chain.Length; i++)
        {
            double x = ReadDouble(ref record);
            chain[i] = new Vertex(x, ReadDouble(ref record));
        }

        return chain;
    }

    private static void WriteCount(int count, ArrayBufferWriter<byte> output) =>
        output.Advance(Varint.Write(output.GetSpan(Varint.MaxBytes), count));

    private static void WriteDouble(double value, ArrayBufferWriter<byte> output)
    {
        BinaryPrimitives.WriteDoubleLittleEndian(output.GetSpan(sizeof(double)), value);
        output.Advance(sizeof(double));
    }

    private static double ReadDouble(ref ReadOnlySpan<byte> record) =>
        BinaryPrimitives.ReadDoubleLittleEndian(RecordReader.Take(ref record, sizeof(double)));
}
