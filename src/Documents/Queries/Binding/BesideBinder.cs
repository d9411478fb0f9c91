using System.Globalization;
using Treepie.Indexes.Fields;
using Treepie.Indexing.Queries;
using Treepie.Kinds;
using Treepie.Queries.Projecting;
using Treepie.Queries.TimeSeries;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Binds what SELECT and INCLUDE request besides document fields: <c>counter()</c>, <c>cmpxchg()</c>, <c>counters()</c>,
/// <c>timeseries()</c>, <c>revisions()</c>.
/// </summary>
internal sealed class BesideBinder(RqlQuery query, QueryParameters parameters, FieldBinder fields, LoadBinder loads)
{
    private readonly List<BesideInclude> _includes = [];

    /// <summary>What INCLUDE requests.</summary>
    public IReadOnlyList<BesideInclude> Includes => _includes;

    /// <summary>Binds a call in SELECT. Returns null if it is none of these methods.</summary>
    public ProjectedField? TrySelect(AliasedExpression item)
    {
        if (query.TimeSeriesOf(item.Value) is { } series)
            return new TimeSeriesBinder(query, parameters, fields, loads).Bind(item, series);
        if (item.Value is not MethodExpression method)
            return null;
        if (method.Is("counter"))
        {
            (PathExpression? owner, IReadOnlyList<MethodArgument> rest) = Owner(method);
            string name = rest is [var only]
                ? parameters.Text(only.Value, "the name of a counter")
                : throw RqlErrors.At(
                    query.Text, method.Position, "'counter()' takes a document and a name: counter(u, 'Likes').");
            return ProjectedField.OfBeside(
                item.Alias ?? name,
                new SelectedCounter(owner is null ? null : loads.IdAt(owner, fields), name));
        }

        if (!method.Is("cmpxchg"))
            return null;
        string key = method.Arguments is [var argument]
            ? parameters.Text(argument.Value, "a key")
            : throw RqlErrors.At(query.Text, method.Position, "'cmpxchg()' takes a key.");
        return ProjectedField.OfBeside(item.Alias ?? key, new SelectedCompareExchange(key));
    }

    /// <summary>Binds a declared time series for scripts. See <see cref="TimeSeriesBinder.BindDeclared"/>.</summary>
    public (string? Parameter, SelectedTimeSeries Series) BindDeclared(Declaration declared) =>
        new TimeSeriesBinder(query, parameters, fields, loads).BindDeclared(declared);

    /// <summary>Binds a call in INCLUDE. Returns false if it is none of these methods.</summary>
    public bool TryInclude(MethodExpression method)
    {
        if (method.Is("counters"))
            IncludeCounters(method);
        else if (method.Is("timeseries"))
            IncludeTimeSeries(method);
        else if (method.Is("cmpxchg"))
            foreach (MethodArgument argument in method.Arguments)
                _includes.Add(new BesideInclude(BesideIncludeKind.CompareExchange, PathOf(argument.Value)));
        else if (method.Is("revisions"))
            foreach (MethodArgument argument in method.Arguments)
                IncludeRevisions(argument.Value);
        else
            return false;
        return true;
    }

    private void IncludeCounters(MethodExpression method)
    {
        (PathExpression? of, IReadOnlyList<MethodArgument> names) = Owner(method, isBare: query.Load.Count == 0);
        FieldPath? owner = PathToId(of);
        if (names.Count == 0)
            _includes.Add(new BesideInclude(BesideIncludeKind.Counter, owner));
        foreach (MethodArgument name in names)
            foreach (FieldValue value in parameters.Values([name.Value]))
                _includes.Add(
                    new BesideInclude(BesideIncludeKind.Counter, owner)
                    {
                        Name = value.Text
                            ?? throw RqlErrors.At(query.Text, name.Value.Position, "Expected is the name of a counter."),
                    });
    }

    private void IncludeTimeSeries(MethodExpression method)
    {
        (PathExpression? owner, IReadOnlyList<MethodArgument> rest) = Owner(method);
        var include = new BesideInclude(BesideIncludeKind.TimeSeries, PathToId(owner));
        if (rest is [var name, ..] && name.Value is not MethodExpression && rest is not [_, { Value: not MethodExpression }])
        {
            include = include with { Name = parameters.Text(name.Value, "the name of a time series") };
            rest = [.. rest.Skip(1)];
        }

        _includes.Add(rest switch
        {
            [] => include,
            [{ Value: MethodExpression last }] when last.Is("last") => Last(include, last),
            [var from, var to] => include with { From = Time(from.Value), To = Time(to.Value) },
            _ => throw RqlErrors.At(
                query.Text, method.Position,
                "'timeseries()' of 'include' takes a document, a name, and two times or last(…): timeseries(u, 'Heartrate', "
                    + "last(7, 'Days')). The document may be left out, and so may the name."),
        });
    }

    private BesideInclude Last(BesideInclude include, MethodExpression last)
    {
        long count = last.Arguments.Count is 1 or 2
            ? parameters.Count(last.Arguments[0].Value, "last", 0)
            : throw RqlErrors.At(
                query.Text, last.Position, "'last()' takes a number of entries, or a number and a unit of time.");
        if (last.Arguments.Count == 1)
            return include with { LastCount = (int)Math.Min(count, int.MaxValue) };
        string unit = parameters.Text(last.Arguments[1].Value, "a unit of time");
        TimeSeriesPeriod period = TimeSeriesPeriod.TryParse(string.Create(CultureInfo.InvariantCulture, $"{count} {unit}"))
            ?? throw RqlErrors.At(query.Text, last.Position, $"'{count} {unit}' is no length of time.");
        return include with { LastTime = period };
    }

    private void IncludeRevisions(Expression argument)
    {
        if (argument is LiteralExpression or ParameterExpression)
        {
            string text = parameters.Text(argument, "a time, or the path of a change vector");
            if (char.IsAsciiDigit(text.Length > 0 ? text[0] : ' '))
            {
                _includes.Add(new BesideInclude(BesideIncludeKind.RevisionBefore, null) { From = Time(argument) });
                return;
            }
        }

        _includes.Add(new BesideInclude(BesideIncludeKind.Revision, PathOf(argument)));
    }

    private DateTime? Time(Expression expression) => SeriesTime.Parse(query, expression, parameters.Value(expression));

    /// <summary>Parses a path, quoted or not, with or without the alias.</summary>
    private FieldPath PathOf(Expression expression)
    {
        if (expression is PathExpression path)
            return fields.Path(path);
        string text = parameters.Text(expression, "a path"), prefix = query.From.Alias + ".";
        return fields.Path(
            query.From.Alias is not null && text.StartsWith(prefix, StringComparison.Ordinal) ? text[prefix.Length..] : text,
            expression.Position);
    }

    /// <summary>
    /// Splits off the first argument if it names the owning document: the alias, a path of the document, or the alias of a loaded
    /// document. An owner of null is the document itself.
    /// </summary>
    /// <param name="method">The call.</param>
    /// <param name="isBare">Whether a single name may be a path of the query's document, because it cannot mean anything
    /// else.</param>
    private (PathExpression? Owner, IReadOnlyList<MethodArgument> Others) Owner(MethodExpression method, bool isBare = false)
    {
        if (method.Arguments is not [{ Value: PathExpression path }, ..])
            return (null, method.Arguments);
        IReadOnlyList<MethodArgument> rest = [.. method.Arguments.Skip(1)];
        if (path.Segments is [{ Elements.Count: 0 } only])
        {
            if (only.Name == query.From.Alias)
                return (null, rest);
            // counter(Likes): an unquoted name is not an owner
            if (rest.Count == 0 && !isBare && !query.Load.Any(load => load.Alias == only.Name))
                throw RqlErrors.At(query.Text, path.Position, $"A name is written in quotes: '{only.Name}'.");
        }

        return (path, rest);
    }

    /// <summary>Returns the path of the owner's id in the document; null for the document itself.</summary>
    private FieldPath? PathToId(PathExpression? owner)
    {
        if (owner?.Segments is [{ Elements.Count: 0 } only])
            foreach (LoadItem load in query.Load)
                if (load.Alias == only.Name && !load.Many && load.Source is PathExpression source)
                    return fields.Path(source);
        return owner is null ? null : fields.Path(owner);
    }
}
