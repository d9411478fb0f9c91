using Treepie.Indexing;
using Treepie.Indexing.Spatial;

namespace Treepie.Queries.Binding;

/// <summary>
/// Reads the shapes of one query. Their corners are counted together, because reading, covering and comparing all cost by
/// the corner; a text that comes again is read once.
/// </summary>
internal sealed class ShapeReader(int maxCorners, CancellationToken cancellationToken)
{
    private readonly Dictionary<(string Wkt, double KmPerUnit), Geometry> _known = [];
    private int _corners;

    /// <summary>The shape of some WKT.</summary>
    /// <exception cref="InvalidGeometryException">It is none, or the shapes of the query have too many corners
    /// together.</exception>
    /// <exception cref="OperationCanceledException">The query was cancelled.</exception>
    public Geometry Read(string wkt, double kmPerUnit)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (!_known.TryGetValue((wkt, kmPerUnit), out Geometry? shape))
        {
            shape = Geometry.Parse(wkt, kmPerUnit, cancellationToken);
            _known.Add((wkt, kmPerUnit), shape);
        }

        if (shape.CornerCount > maxCorners - _corners)
            throw new InvalidGeometryException(
                $"The shapes of the query have more than {maxCorners:N0} corners together (MaxShapeCorners). Simplify them, or "
                    + $"ask about fewer at a time.");
        _corners += shape.CornerCount;
        return shape;
    }
}
