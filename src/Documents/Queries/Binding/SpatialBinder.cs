using Treepie.Indexes.Definitions;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Spatial;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Binds <c>spatial.*</c>: spatial conditions and sort orders. Coordinates are latitude first in calls and longitude first in
/// WKT; distances are in kilometres unless the units are miles, in the call or in the definition of the field.
/// </summary>
internal sealed class SpatialBinder(RqlQuery query, QueryParameters parameters, FieldBinder fields)
{
    private const string Distance = "spatial.distance";

    /// <summary>Returns the relation that a method tests, or null for other methods.</summary>
    public static SpatialRelation? RelationOf(MethodExpression method) => method.Name.ToLowerInvariant() switch
    {
        "spatial.within" => SpatialRelation.Within,
        "spatial.contains" => SpatialRelation.Contains,
        "spatial.intersects" => SpatialRelation.Intersects,
        "spatial.disjoint" => SpatialRelation.Disjoint,
        _ => null,
    };

    /// <summary>Whether a method sorts by distance.</summary>
    public static bool IsDistance(MethodExpression method) => method.Is(Distance);

    /// <summary>
    /// Binds <c>spatial.within(field, shape [, distance error in percent])</c>. The distance error is accepted and ignored:
    /// results are exact.
    /// </summary>
    public SpatialQuery BindRelation(MethodExpression method, SpatialRelation relation)
    {
        Expression[] arguments = Arguments(method, 2, 3);
        if (arguments.Length == 3 && Number(arguments[2], "the distance error in percent") is < 0 or > 100)
            throw RqlErrors.At(query.Text, arguments[2].Position, "The distance error is a percentage: a number from 0 to 100.");
        string field = Place(arguments[0]).SchemaName;
        return new SpatialQuery(field, relation, Shape(arguments[1], KmPerUnit(field)));
    }

    /// <summary>Binds <c>spatial.distance(field, place [, round to])</c>.</summary>
    public SortKey BindDistance(OrderKey key, MethodExpression method)
    {
        Expression[] arguments = Arguments(method, 2, 3);
        string field = Place(arguments[0]).SchemaName;
        GeoPoint centre = Shape(arguments[1], KmPerUnit(field)).Centre;
        double roundTo = arguments.Length == 3 ? Number(arguments[2], "what distances are rounded to") : 0;
        if (roundTo < 0)
            throw RqlErrors.At(query.Text, arguments[2].Position, "Distances are rounded to a number from 0 on, in kilometres.");
        return new SortKey(field, SortKind.Distance, key.Descending, key.NullsFirst, Centre: centre, RoundToKm: roundTo);
    }

    /// <summary>
    /// Binds a spatial field: its name, <c>spatial.point(latitude, longitude)</c> or <c>spatial.wkt(path)</c>. In an auto-index,
    /// a bare name is a field with WKT.
    /// </summary>
    private AutoIndexField Place(Expression operand)
    {
        operand = Unquoted(operand);
        if (operand is not MethodExpression method)
            return fields.Field(operand, AutoIndexFieldKind.Wkt);
        if (method.Is("spatial.point"))
        {
            Expression[] paths = Arguments(method, 2, 2);
            return fields.Point(paths[0], paths[1]);
        }

        return method.Is("spatial.wkt")
            ? fields.Field(Arguments(method, 1, 1)[0], AutoIndexFieldKind.Wkt)
            : throw RqlErrors.At(
                query.Text, method.Position,
                "Expected a field of places: its name, spatial.point(latitude, longitude) or spatial.wkt(path).");
    }

    /// <summary>
    /// Clients quote a whole call, like every name that contains anything but letters: <c>'spatial.point(Lat, Lng)'</c>.
    /// </summary>
    private static Expression Unquoted(Expression operand) =>
        operand is LiteralExpression { Kind: LiteralKind.String } literal
            && literal.Text.StartsWith("spatial.", StringComparison.OrdinalIgnoreCase)
            && literal.Text.EndsWith(')')
            ? new ExpressionParser(new RqlLexer(literal.Text)).ParseOperand("a field of places")
            : operand;

    /// <summary>
    /// Binds a shape: <c>spatial.circle(radius, latitude, longitude [, units])</c>, <c>spatial.point(latitude, longitude)</c> or
    /// <c>spatial.wkt(text [, units])</c>.
    /// </summary>
    private Geometry Shape(Expression expression, double kmPerUnit)
    {
        if (expression is not MethodExpression method)
            throw RqlErrors.At(
                query.Text, expression.Position,
                "Expected a shape: spatial.circle(radius, latitude, longitude), spatial.wkt('…') or spatial.point(latitude, "
                    + "longitude).");
        try
        {
            if (method.Is("spatial.circle"))
            {
                Expression[] arguments = Arguments(method, 3, 4);
                GeoPoint centre = GeoPoint.Of(Number(arguments[1], "the latitude"), Number(arguments[2], "the longitude"));
                return Geometry.Around(centre, Number(arguments[0], "the radius") * KmPerUnit(arguments, 3, kmPerUnit));
            }

            if (method.Is("spatial.point"))
            {
                Expression[] arguments = Arguments(method, 2, 2);
                return Geometry.Point(GeoPoint.Of(Number(arguments[0], "the latitude"), Number(arguments[1], "the longitude")));
            }

            if (method.Is("spatial.wkt"))
            {
                Expression[] arguments = Arguments(method, 1, 2);
                return parameters.Shapes.Read(parameters.Text(arguments[0], "the WKT"), KmPerUnit(arguments, 1, kmPerUnit));
            }
        }
        catch (InvalidGeometryException error)
        {
            throw RqlErrors.At(query.Text, method.Position, error.Message);
        }

        throw RqlErrors.At(
            query.Text, method.Position,
            $"'{method.Name}()' is no shape. There are: spatial.circle, spatial.wkt, spatial.point.");
    }

    /// <summary>Returns the unit of distances that name none: that of the definition of the field.</summary>
    private double KmPerUnit(string field) =>
        fields.Index is StaticIndexMapping { Definition: { } definition }
            && definition.FieldOptions.Any(
                option => option.Spatial is { IsInMiles: true }
                    && (option.Name == field || ReferenceEquals(option, definition.AllFields)))
                ? Earth.KmPerMile
                : 1;

    private double KmPerUnit(Expression[] arguments, int place, double kmPerUnit)
    {
        if (place >= arguments.Length)
            return kmPerUnit;

        string units = parameters.Text(arguments[place], "the units");
        return units.ToLowerInvariant() switch
        {
            "miles" => Earth.KmPerMile,
            "kilometers" or "kilometres" or "km" => 1,
            _ => throw RqlErrors.At(
                query.Text, arguments[place].Position, $"'{units}' is no unit of distance. There are: 'kilometers', 'miles'."),
        };
    }

    private double Number(Expression expression, string what)
    {
        FieldValue value = parameters.Value(expression);
        return value.Kind switch
        {
            FieldValueKind.Long => value.Long,
            FieldValueKind.Double when double.IsFinite(value.Double) => value.Double,
            _ => throw RqlErrors.At(query.Text, expression.Position, $"Expected {what}: a number."),
        };
    }

    private Expression[] Arguments(MethodExpression method, int least, int most)
    {
        int count = method.Arguments.Count;
        if (count < least || count > most)
            throw RqlErrors.At(
                query.Text, method.Position,
                $"'{method.Name}()' takes {(least == most ? $"{least}" : $"{least} or {most}")} arguments; {count} are given.");
        return [.. method.Arguments.Select(argument => argument.Value)];
    }
}
