namespace Treepie.Linq;

/// <summary>
/// How a place lies to a shape. Places are said latitude first; distances are kilometres unless miles are said. Immutable.
/// </summary>
public sealed class SpatialCriteria
{
    private readonly string _relation;
    private readonly SpatialShape _shape;

    private SpatialCriteria(string relation, SpatialShape shape)
    {
        ArgumentNullException.ThrowIfNull(shape);
        (_relation, _shape) = (relation, shape);
    }

    /// <summary>The place is in the shape, border included.</summary>
    public static SpatialCriteria Within(SpatialShape shape) => new("spatial.within", shape);

    /// <summary>The place contains the shape.</summary>
    public static SpatialCriteria Contains(SpatialShape shape) => new("spatial.contains", shape);

    /// <summary>Place and shape have a point in common.</summary>
    public static SpatialCriteria Intersects(SpatialShape shape) => new("spatial.intersects", shape);

    /// <summary>Place and shape have no point in common.</summary>
    public static SpatialCriteria Disjoint(SpatialShape shape) => new("spatial.disjoint", shape);

    /// <summary>The place is at most so far from a point.</summary>
    public static SpatialCriteria WithinRadius(double radius, double latitude, double longitude, bool inMiles = false) =>
        Within(SpatialShape.Circle(radius, latitude, longitude, inMiles));

    internal Clause Condition(string field, ParameterBag parameters) => new($"{_relation}({field}, {_shape.Text(parameters)})");
}
