using Treepie.Indexing;
using Treepie.Indexing.Spatial;

namespace Treepie.Queries.Binding;

/// <summary>
/// Reads the shapes of one query. Limits their total number of vertices, because the cost of parsing, covering and comparing
/// grows with it. A text that occurs again is parsed once.
/// </summary>
internal sealed class ShapeReader(int maxCorners, CancellationToken cancellationToken)
{
    private readonly Dictionary<(string Wkt, double KmPerUnit), Geometry> _known = [];
    private int _corners;

    /// <summary>Parses WKT.</summary>
    /// <exception cref="InvalidGeometryException">The text is not valid WKT, or the shapes of the query have too many
    /// vertices in total.</exception>
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
