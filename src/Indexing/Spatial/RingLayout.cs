using System.Globalization;

namespace Treepie.Indexing.Spatial;

/// <summary>
/// Unwraps chains of corners and rejects invalid rings. An edge takes the shorter direction, so an edge of more than 180°
/// crosses the dateline (an edge of exactly 360° goes all the way around, as in a ring around the whole map). A ring that
/// ends a whole turn from its start goes around the pole that is nearer to its corners on average; that pole is inside.
/// </summary>
internal static class RingLayout
{
    /// <summary>Returns the chain without repeated corners, each corner unwrapped next to the previous one.</summary>
    public static Vertex[] Unroll(Vertex[] chain, bool isRing)
    {
        var unrolled = new List<Vertex>(chain.Length + 3);
        double last = double.NaN;
        foreach (Vertex raw in chain)
        {
            Vertex vertex = raw;
            if (unrolled.Count > 0)
            {
                // Input longitudes are within one turn, so the step between them decides. A step of 360 is intentional.
                double step = raw.X - last;
                if (Math.Abs(step) is > 180 and < 360)
                    step -= 360 * Math.Sign(step);
                vertex = new Vertex(Snap(unrolled[^1].X + step, raw.X), raw.Y);
                if (vertex == unrolled[^1])
                    continue;
            }

            last = raw.X;
            unrolled.Add(vertex);
        }

        if (isRing && unrolled.Count > 1 && IsTurn(unrolled[0], unrolled[^1]))
            unrolled.AddRange(AroundPole([.. unrolled]));
        return [.. unrolled];
    }

    /// <summary>
    /// Returns a ring without the corners that <see cref="Unroll"/> adds when it is read, closed where it began and not a turn
    /// later.
    /// </summary>
    public static Vertex[] WithoutPole(Vertex[] ring) =>
        ring.Length >= 7 && IsTurn(ring[0], ring[^4]) && AroundPole(ring[..^3]).AsSpan().SequenceEqual(ring.AsSpan(^3..))
            ? [.. ring[..^4], ring[0]]
            : ring;

    /// <summary>Whether a ring has gone once around the earth; sums of longitudes are rounded.</summary>
    private static bool IsTurn(Vertex first, Vertex last) =>
        last.Y == first.Y && Math.Abs(Math.Abs(last.X - first.X) - 360) < Segments.Touch;

    /// <summary>The corners that close a chain of a whole turn around a pole.</summary>
    private static Vertex[] AroundPole(Vertex[] chain)
    {
        double pole = chain.Average(static vertex => vertex.Y) >= 0 ? 90 : -90;
        return [new Vertex(chain[^1].X, pole), new Vertex(chain[0].X, pole), chain[0]];
    }

    /// <summary>Returns a valid ring of a polygon.</summary>
    /// <exception cref="InvalidGeometryException">The ring is open, has no area, or crosses or touches itself.</exception>
    public static Vertex[] Ring(Vertex[] chain, CancellationToken cancellationToken)
    {
        if (chain.Length < 4
            || chain[0].Y != chain[^1].Y
            || (chain[0].X != chain[^1].X && Math.Abs(chain[0].X - chain[^1].X) != 360))
            throw new InvalidGeometryException(
                $"A ring of a polygon has four points or more, and the last is the first again; this one has {chain.Length} and "
                    + $"begins at {Say(chain[0])} and ends at {Say(chain[^1])}.");

        Vertex[] ring = Unroll(chain, isRing: true);
        if (ring.Length < 4)
            throw new InvalidGeometryException($"The ring that begins at {Say(chain[0])} has no area.");
        RequireSimple(ring, cancellationToken);
        return ring;
    }

    /// <summary>Creates a polygon, moving its holes into the turn of the outer ring.</summary>
    /// <exception cref="InvalidGeometryException">A hole is not inside.</exception>
    public static Polygon Assemble(Vertex[][] rings)
    {
        var outer = new Polygon([rings[0]]);
        for (int i = 1; i < rings.Length; i++)
        {
            Vertex[] hole = rings[i];
            double turn = ((ReadOnlySpan<double>)[0, -360, 360])
                .ToArray()
                .FirstOrDefault(turn => IsInside(outer, hole, turn), double.NaN);
            if (double.IsNaN(turn))
                throw new InvalidGeometryException($"The hole that begins at {Say(hole[0])} is not inside its polygon.");
            rings[i] = Array.ConvertAll(hole, vertex => new Vertex(vertex.X + turn, vertex.Y));
        }

        return new Polygon(rings);
    }

    /// <summary>
    /// Returns the longitude in this turn that differs from the input by a whole number of turns, without the rounding
    /// errors of sums.
    /// </summary>
    private static double Snap(double x, double said) => said + (360 * Math.Round((x - said) / 360));

    private static bool IsInside(Polygon outer, Vertex[] hole, double turn) =>
        Array.TrueForAll(hole, vertex => outer.PlaceOf(new Vertex(vertex.X + turn, vertex.Y)) != RingPlace.Outside);

    /// <summary>
    /// Rejects a ring whose edges meet. Compares each edge with those that start before it ends, in order of longitude.
    /// </summary>
    private static void RequireSimple(Vertex[] ring, CancellationToken cancellationToken)
    {
        int count = ring.Length - 1;
        var order = Enumerable.Range(0, count).OrderBy(i => Math.Min(ring[i].X, ring[i + 1].X)).ToArray();
        for (int i = 0; i < count; i++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            int first = order[i];
            Vertex a = ring[first], b = ring[first + 1];
            double end = Math.Max(a.X, b.X);
            for (int j = i + 1; j < count; j++)
            {
                int second = order[j];
                Vertex c = ring[second], d = ring[second + 1];
                if (Math.Min(c.X, d.X) > end)
                    break;
                if (Crosses(first, second, count, a, b, c, d))
                    throw new InvalidGeometryException(
                        $"A ring of a polygon crosses or touches itself: the edges {Say(a)} to {Say(b)} and {Say(c)} to {Say(d)} "
                            + $"meet.");
            }
        }
    }

    private static bool Crosses(int first, int second, int count, Vertex a, Vertex b, Vertex c, Vertex d)
    {
        bool follows = second == (first + 1) % count, precedes = first == (second + 1) % count;
        if (!follows && !precedes)
            return Segments.Intersect(a, b, c, d);

        // Neighbours have a corner in common; they must not run back along each other.
        (Vertex from, Vertex corner, Vertex to) = follows ? (a, b, d) : (c, d, b);
        double forth = ((corner.X - from.X) * (to.X - corner.X)) + ((corner.Y - from.Y) * (to.Y - corner.Y));
        return forth < 0 && Segments.Side(from, corner, to) == 0;
    }

    // Rings are unwrapped, so a corner may be whole turns away from its input coordinates.
    private static string Say(Vertex vertex) =>
        string.Create(CultureInfo.InvariantCulture, $"({Math.IEEERemainder(vertex.X, 360)} {vertex.Y})");
}
