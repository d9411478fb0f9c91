namespace Treepie.Linq;

/// <summary>A shape used in a spatial query. Immutable.</summary>
public sealed class SpatialShape
{
    private readonly string _method;
    private readonly object[] _arguments;
    private readonly bool _inMiles;

    private SpatialShape(string method, object[] arguments, bool inMiles) =>
        (_method, _arguments, _inMiles) = (method, arguments, inMiles);

    /// <summary>Creates a circle from its radius and centre.</summary>
    public static SpatialShape Circle(double radius, double latitude, double longitude, bool inMiles = false) =>
        new("spatial.circle", [radius, latitude, longitude], inMiles);

    /// <summary>Creates a shape from WKT, where longitude comes first.</summary>
    public static SpatialShape Wkt(string wkt, bool inMiles = false)
    {
        ArgumentNullException.ThrowIfNull(wkt);
        return new SpatialShape("spatial.wkt", [wkt], inMiles);
    }

    /// <summary>Creates a point.</summary>
    public static SpatialShape Point(double latitude, double longitude) =>
        new("spatial.point", [latitude, longitude], inMiles: false);

    internal string Text(ParameterBag parameters) =>
        $"{_method}({string.Join(", ", _arguments.Select(argument => parameters.Add(argument)))}{(_inMiles ? ", 'miles'" : "")})";
}
