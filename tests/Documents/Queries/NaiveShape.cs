using System.Globalization;
using System.Text.RegularExpressions;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// A box, from an envelope or a polygon of WKT, or a straight line of two ends; how they lie to one another by plain formulas.
/// Corners of two shapes that are compared are never on an edge of the other: the generator sees to that.
/// </summary>
internal sealed partial record NaiveShape(bool IsLine, (double X, double Y) From, (double X, double Y) To)
{
    private double West => Math.Min(From.X, To.X);

    private double East => Math.Max(From.X, To.X);

    private double South => Math.Min(From.Y, To.Y);

    private double North => Math.Max(From.Y, To.Y);

    public static NaiveShape Of(string wkt)
    {
        double[] numbers = [.. Number().Matches(wkt).Select(m => double.Parse(m.Value, CultureInfo.InvariantCulture))];
        if (wkt.StartsWith('L'))
            return new NaiveShape(true, (numbers[0], numbers[1]), (numbers[2], numbers[3]));
        double[] x = wkt.StartsWith('E') ? numbers[..2] : [.. numbers.Where((_, i) => i % 2 == 0)],
            y = wkt.StartsWith('E') ? numbers[2..] : [.. numbers.Where((_, i) => i % 2 == 1)];
        return new NaiveShape(false, (x.Min(), y.Min()), (x.Max(), y.Max()));
    }

    /// <summary>Whether one of some shapes lies so to another; disjoint: there are some, and none touches it.</summary>
    public static bool IsSo(string relation, List<NaiveShape> shapes, NaiveShape other) => relation.ToUpperInvariant() switch
    {
        "SPATIAL.WITHIN" => shapes.Exists(shape => shape.IsIn(other)),
        "SPATIAL.CONTAINS" => shapes.Exists(other.IsIn),
        "SPATIAL.INTERSECTS" => shapes.Exists(shape => shape.Meets(other)),
        _ => shapes.Count > 0 && !shapes.Exists(shape => shape.Meets(other)),
    };

    /// <summary>No line has anything in it but a part of itself.</summary>
    private bool IsIn(NaiveShape other) =>
        !other.IsLine && West >= other.West && East <= other.East && South >= other.South && North <= other.North;

    private bool Meets(NaiveShape other) => (IsLine, other.IsLine) switch
    {
        (false, false) => West <= other.East && other.West <= East && South <= other.North && other.South <= North,
        (true, true) => Side(From, To, other.From) != Side(From, To, other.To)
            && Side(other.From, other.To, From) != Side(other.From, other.To, To),
        (true, false) => other.Meets(this),
        _ => other.Crosses(this),
    };

    /// <summary>
    /// Whether this line has a point in a box: an end lies in it, or its corners are on both sides of a line that reaches across
    /// it.
    /// </summary>
    private bool Crosses(NaiveShape box)
    {
        // What is left of the line between the two ends after it is cut at each edge.
        double first = 0, last = 1;
        (double X, double Y) way = (To.X - From.X, To.Y - From.Y);
        foreach ((
            double along,
            double room) in ((double, double)[])
            [
                (-way.X, From.X - box.West), (way.X, box.East - From.X), (-way.Y, From.Y - box.South), (way.Y, box.North - From.Y)
            ])
        {
            if (along == 0 && room < 0)
                return false;
            if (along < 0)
                first = Math.Max(first, room / along);
            else if (along > 0)
                last = Math.Min(last, room / along);
        }

        return first <= last;
    }

    private static bool Side((double X, double Y) from, (double X, double Y) to, (double X, double Y) point) =>
        ((to.X - from.X) * (point.Y - from.Y)) - ((to.Y - from.Y) * (point.X - from.X)) > 0;

    [GeneratedRegex("-?[0-9.]+")]
    private static partial Regex Number();
}
