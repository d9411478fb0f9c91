namespace Treepie.Linq;

/// <summary>
/// A spatial relation to a shape. Coordinates are latitude first; distances are in kilometres unless miles are specified.
/// Immutable.
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

    /// <summary>The indexed shape lies within the shape, including its border.</summary>
    public static SpatialCriteria Within(SpatialShape shape) => new("spatial.within", shape);

    /// <summary>The indexed shape contains the shape.</summary>
    public static SpatialCriteria Contains(SpatialShape shape) => new("spatial.contains", shape);

    /// <summary>The indexed shape and the shape have at least one point in common.</summary>
    public static SpatialCriteria Intersects(SpatialShape shape) => new("spatial.intersects", shape);

    /// <summary>The indexed shape and the shape have no point in common.</summary>
    public static SpatialCriteria Disjoint(SpatialShape shape) => new("spatial.disjoint", shape);

    /// <summary>The indexed shape lies within a distance from a point.</summary>
    public static SpatialCriteria WithinRadius(double radius, double latitude, double longitude, bool inMiles = false) =>
        Within(SpatialShape.Circle(radius, latitude, longitude, inMiles));

    internal Clause Condition(string field, ParameterBag parameters) => new($"{_relation}({field}, {_shape.Text(parameters)})");
}
