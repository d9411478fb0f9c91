using System.Globalization;
using System.Text;
using Treepie.Computations;
using Treepie.Queries.Projecting;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Scripts;

/// <summary>
/// The JavaScript that a query runs on each document: its <c>filter</c> condition and its selection. Immutable.
/// </summary>
/// <param name="Script">The compiled functions.</param>
/// <param name="Filters">Whether it has a condition.</param>
/// <param name="Selects">Whether it makes the rows of the result.</param>
/// <param name="Computes">Whether it computes values of a projection.</param>
internal sealed record QueryScript(Script Script, bool Filters, bool Selects, bool Computes)
{
    public const string FilterFunction = "$filter";
    public const string SelectFunction = "$select";

    /// <summary>The name of the object of a group in the selection. No parameter of a query has this name.</summary>
    public const string Group = "$$group";

    /// <summary>The time series that the query declares, which the script may call by their numbers.</summary>
    public IReadOnlyList<SelectedTimeSeries> Series { get; private init; } = [];

    /// <summary>Returns the script of a query, or null if it needs none.</summary>
    /// <param name="query">The query.</param>
    /// <param name="engine">Compiles the script. Null if scripts are not available.</param>
    /// <param name="condition">The part of <c>filter</c> that needs a script, or null.</param>
    /// <param name="computed">The values of the projection that are calls of declared functions, by name.</param>
    /// <param name="bind">Binds a declared time series, and returns the parameter that is its document, or null.</param>
    /// <exception cref="InvalidQueryException">A part of the query cannot be combined with scripts, or no engine is
    /// available.</exception>
    /// <exception cref="ScriptException">The JavaScript is not valid.</exception>
    public static QueryScript? Of(
        RqlQuery query, ComputingEngine? engine, Expression? condition,
        IReadOnlyList<(string Name, MethodExpression Call)> computed,
        Func<Declaration, (string? Parameter, SelectedTimeSeries Series)> bind)
    {
        bool selects = MakesRows(query);
        if (!selects && condition is null && computed.Count == 0)
            return null;
        if (engine is null)
        {
            int position = condition?.Position ?? query.Select?.Script?.Position ?? query.Declarations[0].Position;
            throw RqlErrors.At(
                query.Text, position,
                "JavaScript, and what 'filter' calls or takes of loaded documents, need an engine that compiles them: add the "
                    + "package Treepie.Computing, and set DatabaseOptions.Computing = new TextComputingEngine().");
        }

        var expressions = new ExpressionText(query);
        var series = new List<SelectedTimeSeries>();
        var functions = new List<ScriptFunction>(
            [.. ExpressionText.Helpers, .. QueryScripts.Functions(query, declared => Function(declared, bind, series))]);
        string prologue = Prologue(query, "$args");
        if (condition is { } filter)
            functions.Add(new ScriptFunction(FilterFunction, ["$args"], $"{prologue}return {expressions.Condition(filter)};"));
        if (selects)
            functions.Add(Select(query, expressions, prologue));
        else if (computed.Count > 0)
            functions.Add(
                new ScriptFunction(SelectFunction, ["$args"], $"{prologue}return {{{Members(computed, expressions)}}};"));
        return new QueryScript(engine.CompileScript(functions), condition is not null, selects, computed.Count > 0)
        {
            Series = series
        };
    }

    /// <summary>Makes a declared time series a function. For a document that does not exist it gives no entries.</summary>
    /// <param name="declared">The declaration.</param>
    /// <param name="bind">Binds it, and returns the parameter that is its document, or null.</param>
    /// <param name="series">The time series that functions call by their numbers, to which it is added.</param>
    public static ScriptFunction Function(
        Declaration declared, Func<Declaration, (string? Parameter, SelectedTimeSeries Series)> bind,
        List<SelectedTimeSeries> series)
    {
        (string? parameter, SelectedTimeSeries bound) = bind(declared);
        string number = series.Count.ToString(CultureInfo.InvariantCulture);
        series.Add(bound);
        return new ScriptFunction(
            declared.Name, declared.ParameterNames,
            parameter is null
                ? $"return {ScriptFunction.DeclaredTimeSeries}({number});"
                : $"return {parameter} === null ? {{ Count: 0, Results: [] }} "
                    + $": {ScriptFunction.DeclaredTimeSeries}({number}, {parameter});");
    }

    /// <summary>
    /// Whether a script makes the rows of a result: an object in JavaScript, or what a single call returns. A call among other
    /// values, or with a name, is a value of the row.
    /// </summary>
    public static bool MakesRows(RqlQuery query) => query.Select is { } select
        && (select.Script is not null
            || (select.Items is [{ Value: MethodExpression only, Alias: null }] && query.Declares(only)));

    private static ScriptFunction Select(RqlQuery query, ExpressionText expressions, string prologue)
    {
        SelectClause select = query.Select ?? throw new InvalidOperationException("The query selects.");
        if (select.Script is not { } script)
            return new ScriptFunction(
                SelectFunction, ["$args"], $"{prologue}return {expressions.Value(select.Items[0].Value)};");
        (int line, int column) = RqlErrors.PlaceOf(query.Text, script.Position);
        string before = prologue + "return (";
        return new ScriptFunction(SelectFunction, ["$args"], $"{before}{script.Text});", line, column - before.Length);
    }

    private static string Members(
        IReadOnlyList<(string Name, MethodExpression Call)> computed, ExpressionText expressions) =>
        string.Concat(computed.Select(one => $"{Quoted(one.Name)}: {expressions.Value(one.Call)} ?? null,"));

    /// <summary>
    /// Declares names for the document, loaded documents and parameters, on the line where the script begins.
    /// </summary>
    /// <param name="query">The query.</param>
    /// <param name="arguments">The script's name for the object with the parameters.</param>
    public static string Prologue(RqlQuery query, string arguments)
    {
        var text = new StringBuilder();
        foreach (string name in QueryScripts.ParametersOf(query))
            text.Append(CultureInfo.InvariantCulture, $"const ${name} = {arguments}[\"{name}\"];");
        if (query.GroupKeys.Count > 0)
            text.Append(CultureInfo.InvariantCulture, $"const {Group} = $group(this, {KeysOf(query)});");
        if (query.From.Alias is { } alias)
            text.Append(
                CultureInfo.InvariantCulture,
                $"const {Name(query, alias, query.From.Position)} = {(query.GroupKeys.Count > 0 ? Group : "this")};");
        var expressions = new ExpressionText(query);
        foreach (LoadItem load in query.Load)
        {
            string ids = expressions.Value(load.Source);
            text.Append(
                CultureInfo.InvariantCulture,
                $"const {Name(query, load.Alias, load.Source.Position)} = "
                    + $"load({(load.Many ? $"[].concat({ids} ?? [])" : ids)});");
        }

        return text.ToString();
    }

    /// <summary>
    /// Returns the keys of groups as a script has them: where each stands, and in which member its value is. The members of a
    /// path stand within each other, as in documents; any other name is one member.
    /// </summary>
    private static string KeysOf(RqlQuery query) => $"[{string.Join(',', query.GroupKeys.Select(static key =>
    {
        string[] path = key.Name.AsSpan().IndexOfAny('[', '(', '\'') < 0 ? key.Name.Split('.') : [key.Name];
        return $"[[{string.Join(',', path.Select(Quoted))}],{Quoted(key.Member)}]";
    }))}]";

    private static string Quoted(string text) => $"\"{System.Text.Json.JsonEncodedText.Encode(text)}\"";

    private static string Name(RqlQuery query, string name, int position) =>
        name.All(static c => char.IsAsciiLetterOrDigit(c) || c == '_') && !char.IsAsciiDigit(name[0])
            ? name
            : throw RqlErrors.At(query.Text, position, $"'{name}' cannot be a name in a script: letters, digits and '_' can.");
}
