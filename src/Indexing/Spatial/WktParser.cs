using System.Globalization;

namespace Treepie.Indexing.Spatial;

/// <summary>
/// Parses well-known text, longitude before latitude: POINT, LINESTRING, POLYGON with holes, MULTIPOINT, MULTILINESTRING,
/// MULTIPOLYGON, GEOMETRYCOLLECTION, and as extensions <c>ENVELOPE(west, east, north, south)</c>,
/// <c>CIRCLE(longitude latitude d=radius)</c> and <c>BUFFER(POINT(longitude latitude), radius)</c>. Keywords are not
/// case-sensitive. Rings may have either orientation. An error says what was expected, and where.
/// </summary>
internal sealed class WktParser(string text, double kmPerUnit, CancellationToken cancellationToken = default)
{
    /// <summary>Length of the longest text in characters.</summary>
    public const int MaxLength = 1_000_000;

    /// <summary>Most corners of one geometry: the exact test of two geometries compares at most 10⁸ pairs of edges.</summary>
    public const int MaxVertices = 10_000;

    /// <summary>Deepest nesting of collections.</summary>
    public const int MaxDepth = 8;

    private readonly List<Vertex> _points = [];
    private readonly List<Vertex[]> _lines = [];
    private readonly List<Polygon> _polygons = [];
    private readonly List<Circle> _circles = [];
    private int _position;
    private int _vertices;

    public Geometry Parse()
    {
        if (text.Length > MaxLength)
            throw new InvalidGeometryException($"The WKT has {text.Length:N0} characters; {MaxLength:N0} are the most.");
        if (TakeWord("SRID"))
            SkipReference();
        ParseGeometry(0);
        SkipBlanks();
        return _position == text.Length
            ? new Geometry([.. _points], [.. _lines], [.. _polygons], [.. _circles])
            : throw Expected("the end");
    }

    private void SkipReference()
    {
        Expect('=');
        if (Number() != 4326)
            throw Error("Only coordinates of WGS 84 (SRID 4326) are supported");
        Expect(';');
    }

    private void ParseGeometry(int depth)
    {
        int start = _position;
        string word = Word();
        if (TakeWord("EMPTY"))
            throw Error("A geometry without points is nowhere; leave the value out");
        if (TakeWord("Z") || TakeWord("M") || TakeWord("ZM"))
            throw Error("Places have a longitude and a latitude; heights and measures are not supported");
        switch (word)
        {
            case "POINT":
                Expect('(');
                _points.Add(Place());
                Expect(')');
                break;
            case "LINESTRING":
                _lines.Add(Line());
                break;
            case "POLYGON":
                _polygons.Add(ParsePolygon());
                break;
            case "MULTIPOINT":
                List(() => _points.Add(PointOfMany()));
                break;
            case "MULTILINESTRING":
                List(() => _lines.Add(Line()));
                break;
            case "MULTIPOLYGON":
                List(() => _polygons.Add(ParsePolygon()));
                break;
            case "GEOMETRYCOLLECTION" when depth < MaxDepth:
                List(() => ParseGeometry(depth + 1));
                break;
            case "GEOMETRYCOLLECTION":
                throw Error($"Collections are nested more than {MaxDepth} deep");
            case "ENVELOPE":
                _polygons.Add(Envelope());
                break;
            case "CIRCLE":
                _circles.Add(ParseCircle());
                break;
            case "BUFFER":
                _circles.Add(Buffer());
                break;
            default:
                _position = start;
                throw Expected(
                    "POINT, LINESTRING, POLYGON, MULTIPOINT, MULTILINESTRING, MULTIPOLYGON, GEOMETRYCOLLECTION, ENVELOPE, CIRCLE "
                        + "or BUFFER");
        }
    }

    private void List(Action item)
    {
        Expect('(');
        do
            item();
        while (Take(','));
        Expect(')');
    }

    private Vertex PointOfMany()
    {
        bool isInside = Take('(');
        Vertex place = Place();
        if (isInside)
            Expect(')');
        return place;
    }

    private Vertex[] Chain()
    {
        var chain = new List<Vertex>();
        List(() => chain.Add(Place()));
        return [.. chain];
    }

    private Vertex[] Line()
    {
        Vertex[] line = RingLayout.Unroll(Chain(), isRing: false);
        return line.Length >= 2 ? line : throw Error("A line has two different points or more");
    }

    private Polygon ParsePolygon()
    {
        var rings = new List<Vertex[]>();
        List(() => rings.Add(RingLayout.Ring(Chain(), cancellationToken)));
        return RingLayout.Assemble([.. rings]);
    }

    /// <summary>West, east, north, south; if west is greater than east, the box crosses the dateline.</summary>
    private Polygon Envelope()
    {
        Expect('(');
        double west = Longitude(Number());
        Expect(',');
        double east = Longitude(Number());
        Expect(',');
        double north = Latitude(Number());
        Expect(',');
        double south = Latitude(Number());
        Expect(')');
        if (south > north)
            throw Error("The order of ENVELOPE is west, east, north, south: its north lies below its south");
        if (west > east)
            east += 360;
        return new Polygon([[new(west, south), new(east, south), new(east, north), new(west, north), new(west, south)]]);
    }

    private Circle ParseCircle()
    {
        Expect('(');
        double longitude = Longitude(Number());
        Take(',');
        double latitude = Latitude(Number());
        Take(',');
        if (!TakeWord("D"))
            throw Expected("'d=' and the radius");
        Expect('=');
        double radius = Number();
        Expect(')');
        return CircleOf(longitude, latitude, radius);
    }

    private Circle Buffer()
    {
        Expect('(');
        if (!TakeWord("POINT"))
            throw Expected("POINT: what BUFFER makes a circle of");
        Expect('(');
        Vertex centre = Place();
        Expect(')');
        Expect(',');
        double radius = Number();
        Expect(')');
        return CircleOf(centre.X, centre.Y, radius);
    }

    private Circle CircleOf(double longitude, double latitude, double radius) => radius >= 0
        ? new Circle(new GeoPoint(latitude, longitude), Math.Min(radius * kmPerUnit, 2 * Earth.MaxDistanceKm))
        : throw Error("The radius of a circle is a number of at least 0");

    private Vertex Place()
    {
        if (++_vertices > MaxVertices)
            throw Error($"The shape has more than {MaxVertices:N0} points");
        double x = Longitude(Number());
        return new Vertex(x, Latitude(Number()));
    }

    private double Longitude(double value) => value is >= -180 and <= 180
        ? value
        : throw Error(
            string.Create(CultureInfo.InvariantCulture, $"A longitude (which comes first) is from -180 to 180; {value} is not"));

    private double Latitude(double value) => value is >= -90 and <= 90
        ? value
        : throw Error(
            string.Create(CultureInfo.InvariantCulture, $"A latitude (which comes second) is from -90 to 90; {value} is not"));

    private double Number()
    {
        SkipBlanks();
        int start = _position;
        while (_position < text.Length
            && (char.IsAsciiDigit(text[_position]) || text[_position] is '+' or '-' or '.' or 'e' or 'E'))
            _position++;
        if (_position > start
            && double.TryParse(
                text.AsSpan(start, _position - start), NumberStyles.Float, CultureInfo.InvariantCulture, out double number)
            && double.IsFinite(number))
            return number;

        _position = start;
        throw Expected("a number");
    }

    private string Word()
    {
        SkipBlanks();
        int start = _position;
        while (_position < text.Length && char.IsAsciiLetter(text[_position]))
            _position++;
        return text[start.._position].ToUpperInvariant();
    }

    private bool TakeWord(string word)
    {
        int start = _position;
        if (Word() == word)
            return true;
        _position = start;
        return false;
    }

    private bool Take(char sign)
    {
        SkipBlanks();
        if (_position == text.Length || text[_position] != sign)
            return false;
        _position++;
        return true;
    }

    private void Expect(char sign)
    {
        if (!Take(sign))
            throw Expected($"'{sign}'");
    }

    private void SkipBlanks()
    {
        while (_position < text.Length && char.IsWhiteSpace(text[_position]))
            _position++;
    }

    private InvalidGeometryException Expected(string what)
    {
        SkipBlanks();
        string found = _position == text.Length
            ? "it ends"
            : $"there is '{text.AsSpan(_position, Math.Min(20, text.Length - _position))}'";
        return Error($"Expected {what}, but {found}");
    }

    private InvalidGeometryException Error(string problem)
    {
        const int Shown = 80;
        string excerpt = text.Length <= Shown ? text : text[..Shown] + "…";
        return new InvalidGeometryException($"{problem} (character {_position + 1} of the WKT '{excerpt}').");
    }
}
