using Treepie.Queries.Filters;
using Treepie.Queries.Projecting;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>Binds values of SELECT that are computed of others without a script: <c>year(At)</c>, <c>count(Lines)</c>.</summary>
/// <param name="query">The query.</param>
/// <param name="parameters">Its parameter values.</param>
/// <param name="bind">Binds a value that is not computed.</param>
internal sealed class FunctionBinder(
    RqlQuery query, QueryParameters parameters, Func<AliasedExpression, ProjectedField> bind)
{
    /// <summary>Binds a value. Returns null if it is no such function, or one that the query declares.</summary>
    public ProjectedField? TryBind(AliasedExpression item)
    {
        if (item.Value is not MethodExpression method
            || !FilterFunctions.Knows(method.Name)
            || query.Declares(method)
            || query.DeclaredTimeSeries(method) is not null)
            return null;
        return method.Is(FilterFunctions.Count) ? Count(method, item.Alias) : Map(method, item.Alias);
    }

    private ProjectedField Map(MethodExpression method, string? name)
    {
        ProjectedField? of = method.Arguments is [{ Value: var value, Alias: null }] ? Operand(value) : null;
        return of is not null && FilterFunctions.Of(method.Name) is { } function
            ? ProjectedField.OfFunction(name ?? $"{method.Name}({of.Name})", new MappedValue(function), of)
            : throw RqlErrors.At(
                query.Text, method.Position,
                $"'{method.Name}()' takes a field or the id: {method.Name}({(method.Is("length") ? "Name" : "OrderedAt")}).");
    }

    private ProjectedField Count(MethodExpression method, string? name)
    {
        if (method.Arguments is not [{ Value: PathExpression path } first, ..] || Operand(path) is not { } of)
            throw RqlErrors.At(
                query.Text, method.Position,
                "'count()' takes an array, count(Lines), unless the query has 'group by'. TotalResults is the number of "
                    + "results.");
        if (first.Alias is not null && name is null)
            throw RqlErrors.At(
                query.Text, method.Position, "Name what is counted with 'as': count(Lines as l, l.Amount > 3) as Large.");
        if (method.Arguments.Skip(1).Any(argument => FilterNeeds.Script(query, argument.Value))
            || (first.Alias is not null && of.Load >= 0))
            throw RqlErrors.At(
                query.Text, method.Position,
                "The condition of 'count()' is about the result itself, without loaded documents and functions of scripts: count "
                    + "these in a script, select { N: c.Lines.filter(l => l.Amount > 3).length }.");
        var builder = new FilterBuilder(query, parameters.Element);
        FilterCount count = builder.Count(method, isExact: false);
        return ProjectedField.OfFunction(name ?? $"{method.Name}({of.Name})", new CountedElements(count, builder.MostNames), of);
    }

    /// <summary>Returns the value of which a function is computed: a field, the id, or another function; else null.</summary>
    private ProjectedField? Operand(Expression value)
    {
        var operand = new AliasedExpression(value, null);
        bool isField = value is PathExpression or LiteralExpression { Kind: LiteralKind.String }
            || (value is MethodExpression method && method.Is("id") && !query.Declares(method));
        ProjectedField? of = TryBind(operand) ?? (isField ? bind(operand) : null);
        return of is { IsDocument: true } ? null : of;
    }
}
