using System.Globalization;
using Treepie.Indexing.Queries;
using Treepie.Json;
using Treepie.Kinds;
using Treepie.Queries.Projecting;
using Treepie.Queries.TimeSeries;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>Binds <c>timeseries(…)</c> in SELECT, inline or declared.</summary>
internal sealed class TimeSeriesBinder(
    RqlQuery query, QueryParameters parameters, FieldBinder fields, LoadBinder loads)
{
    private static readonly SeriesItem[] _all =
    [
        new("First", SeriesFunction.First), new("Last", SeriesFunction.Last), new("Min", SeriesFunction.Min),
        new("Max", SeriesFunction.Max), new("Sum", SeriesFunction.Sum), new("Average", SeriesFunction.Average),
    ];

    /// <summary>Binds a time series as a field of the result.</summary>
    public ProjectedField Bind(AliasedExpression item, TimeSeriesExpression series)
    {
        var call = item.Value as MethodExpression;
        (ProjectedField? owner, string name) = Source(series, call);
        return ProjectedField.OfBeside(
            item.Alias ?? call?.Name ?? "timeseries", new SelectedTimeSeries(owner, BindQuery(series, name)));
    }

    /// <summary>Binds a declared time series for scripts, which name its document when they call it.</summary>
    /// <returns>The parameter that is the document, or null if the declaration says which, and the time series.</returns>
    public (string? Parameter, SelectedTimeSeries Series) BindDeclared(Declaration declared)
    {
        TimeSeriesExpression series = declared.Series ?? throw new InvalidOperationException("A function is no time series.");
        (ProjectedField? owner, string name) = Source(series, null);
        string? parameter = series.Source is PathExpression { Segments: [var root, _, ..] }
            && declared.ParameterNames.Contains(root.Name)
                ? root.Name
                : null;
        if (parameter is not null)
            name = string.Join('.', ((PathExpression)series.Source).Segments.Skip(1).Select(static segment => segment.Name));
        return (parameter, new SelectedTimeSeries(parameter is null ? owner : null, BindQuery(series, name)));
    }

    private SeriesQuery BindQuery(TimeSeriesExpression series, string name)
    {
        var conditions = new SeriesConditions(query, parameters, series.TagAlias);
        DateTime? from = Time(series.From), to = Time(series.To);
        if (from > to)
            throw RqlErrors.At(
                query.Text, series.To!.Position, "The range of the time series ends before it begins."); // not null: from > to
        return new SeriesQuery(name)
        {
            From = from?.Ticks ?? 0,
            To = to?.Ticks ?? DateTime.MaxValue.Ticks,
            HasRange = series.From is not null,
            First = Period(series.First),
            Last = Period(series.Last),
            Where = series.Where is null ? null : conditions.Bind(series.Where),
            Period = Period(series.Period),
            Key = series.Key is null ? null : conditions.BindKey(series.Key),
            Fill = series.Fill,
            Items = series.Items.Count > 0 ? [.. series.Items.Select(Item)]
                : series.Period is not null || series.Key is not null ? _all : [],
            Scale = series.Scale is null ? 1 : Number(series.Scale),
            Offset = series.Offset is null ? 0 : Span(series.Offset),
        };
    }

    /// <summary>
    /// Returns the id of the document that owns the series (null for the result itself) and the name of the series.
    /// </summary>
    private (ProjectedField? Owner, string Name) Source(TimeSeriesExpression series, MethodExpression? call)
    {
        if (series.Source is not PathExpression path)
            return (null, parameters.Text(series.Source, "the name of a time series"));
        if (path.Segments.Any(static segment => segment.Elements.Count > 0))
            throw RqlErrors.At(query.Text, path.Position, "The name of a time series has no brackets, unless it is in quotes.");
        string root = path.Segments[0].Name,
            rest = string.Join('.', path.Segments.Skip(1).Select(static segment => segment.Name));
        Expression? given = call is not null && query.DeclaredTimeSeries(call) is { } declared
            ? Argument(declared, call, root)
            : null;
        if (path.Segments.Count == 1)
            return (null, root);
        if (given is not null)
            return (Owner(given), rest);
        if (root == query.From.Alias)
            return (null, rest);
        if (loads.IdOf(new PathExpression(path.Position, [path.Segments[0]])) is { } owner)
            return (owner, rest);
        return !query.Load.Any(load => load.Alias == root)
            ? (null, path.ToString())
            : throw RqlErrors.At(
                query.Text, path.Position,
                $"'{root}' is loaded by the script of 'update': declare the time series with a parameter, and call it with "
                    + $"'{root}'.");
    }

    /// <summary>
    /// Returns the id of the document that an argument stands for: the alias of a document, a path where an id stands, or an id.
    /// Null for the document of the result.
    /// </summary>
    private ProjectedField? Owner(Expression argument)
    {
        if (argument is PathExpression { Segments: [{ Elements.Count: 0 } only] } && only.Name == query.From.Alias)
            return null;
        return argument switch
        {
            PathExpression path => loads.IdAt(path, fields),
            MethodExpression method when fields.IsId(method) => null,
            MethodExpression { Arguments: [{ Value: PathExpression of }] } method
                when method.Is("id") && loads.IdOf(of) is { } id => id,
            LiteralExpression or ParameterExpression => ProjectedField.OfLiteral(
                "id()", JsonStrings.Of(parameters.Text(argument, "the id of a document"))),
            _ => throw RqlErrors.At(query.Text, argument.Position, "Expected is the alias of a document, or an id."),
        };
    }

    /// <summary>
    /// Returns the argument that the call passes for a parameter of a declared series, or null if it has no such parameter.
    /// </summary>
    private Expression? Argument(Declaration declared, MethodExpression call, string parameter)
    {
        string[] names = declared.ParameterNames;
        if (names.Length != call.Arguments.Count)
            throw RqlErrors.At(
                query.Text, call.Position,
                $"'{declared.Name}' takes {names.Length} arguments, {call.Arguments.Count} are given.");
        int index = Array.IndexOf(names, parameter);
        return index < 0 ? null : call.Arguments[index].Value;
    }

    private SeriesItem Item(AliasedExpression item)
    {
        if (item.Value is not MethodExpression method)
            throw RqlErrors.At(query.Text, item.Value.Position, Expected);
        (string name, SeriesFunction function) = method.Name.ToLowerInvariant() switch
        {
            "count" => ("Count", SeriesFunction.Count),
            "min" => ("Min", SeriesFunction.Min),
            "max" => ("Max", SeriesFunction.Max),
            "sum" => ("Sum", SeriesFunction.Sum),
            "avg" or "average" => ("Average", SeriesFunction.Average),
            "first" => ("First", SeriesFunction.First),
            "last" => ("Last", SeriesFunction.Last),
            "percentile" => ("Percentile", SeriesFunction.Percentile),
            "slope" => ("Slope", SeriesFunction.Slope),
            "stddev" => ("StandardDeviation", SeriesFunction.StandardDeviation),
            _ => throw RqlErrors.At(query.Text, method.Position, Expected),
        };
        bool takesNumber = function == SeriesFunction.Percentile;
        if (method.Arguments.Count != (takesNumber ? 1 : 0))
            throw RqlErrors.At(
                query.Text, method.Position,
                takesNumber ? "'percentile()' takes a number from 0 to 100." : $"'{method.Name}()' takes nothing.");
        double percent = takesNumber ? Number(method.Arguments[0].Value) : 0;
        if (percent is not (>= 0 and <= 100))
            throw RqlErrors.At(query.Text, method.Position, "'percentile()' takes a number from 0 to 100.");
        return new SeriesItem(item.Alias ?? name, function, percent);
    }

    private const string Expected =
        "Of time series min(), max(), avg(), sum(), count(), first(), last(), percentile(n), slope() and stddev() can be "
            + "selected.";

    private DateTime? Time(Expression? expression) =>
        expression is null ? null : SeriesTime.Parse(query, expression, parameters.Value(expression));

    private TimeSeriesPeriod? Period(Expression? expression)
    {
        if (expression is null)
            return null;
        return TimeSeriesPeriod.TryParse(parameters.Text(expression, "a length of time"))
            ?? throw RqlErrors.At(
                query.Text, expression.Position,
                "Expected is a length of time: a whole number and milliseconds, seconds, minutes, hours, days, weeks, months, "
                    + "quarters or years.");
    }

    private double Number(Expression expression)
    {
        FieldValue value = parameters.Value(expression);
        return value.Kind switch
        {
            FieldValueKind.Long => value.Long,
            FieldValueKind.Double => value.Double,
            _ => throw RqlErrors.At(query.Text, expression.Position, "Expected is a number."),
        };
    }

    private long Span(Expression expression) =>
        TimeSpan.TryParse(parameters.Text(expression, "a time span"), CultureInfo.InvariantCulture, out TimeSpan span)
            && span.Duration() <= TimeSpan.FromDays(1)
                ? span.Ticks
                : throw RqlErrors.At(
                    query.Text, expression.Position, "Expected is a time span of at most a day, such as '02:00' or '-05:30:00'.");
}
