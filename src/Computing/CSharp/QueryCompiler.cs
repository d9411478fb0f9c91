using System.Collections;
using System.Linq.Expressions;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>
/// Compiles <c>from … let … where … select</c> to nested loops: each clause runs the following ones for every element, with
/// its variable in scope; the last adds a result. A group clause first collects all elements.
/// </summary>
internal sealed class QueryCompiler(TextCompiler compiler, TextSource source, ParameterExpression run)
{
    private readonly ParameterExpression _results = Expression.Variable(typeof(List<Value>), "results");

    public Expression Visit(QueryExpressionSyntax query, Scope scope)
    {
        Expression items = compiler.Visit(query.FromClause.Expression, scope);
        Expression work = Finish(
            query.Body, scope,
            last => From(query.FromClause.Identifier.ValueText, items, scope, inner => Clauses(query.Body, 0, inner, last)));
        return Expression.Block(
            [_results], Expression.Assign(_results, Expression.New(typeof(List<Value>))), work,
            TextCompiler.Call(typeof(QueryRuntime), nameof(QueryRuntime.Sequence), _results));
    }

    /// <summary>
    /// Compiles a loop over the elements into the expression itself: a nested lambda would create a delegate for every document.
    /// </summary>
    private BlockExpression From(string name, Expression items, Scope scope, Func<Scope, Expression> follow)
    {
        ParameterExpression item = Expression.Variable(typeof(Value), name),
            elements = Expression.Variable(typeof(IEnumerator<Value>), "elements");
        LabelTarget end = Expression.Label();
        BlockExpression turn = Expression.Block(
            [item], Expression.Assign(item, Expression.Property(elements, nameof(IEnumerator<Value>.Current))),
            follow(scope.With(name, item)));
        // The method exists.
        Expression next = Expression.Call(elements, typeof(IEnumerator).GetMethod(nameof(IEnumerator.MoveNext))!);
        return Expression.Block(
            [elements],
            Expression.Assign(
                elements, TextCompiler.Call(typeof(QueryRuntime), nameof(QueryRuntime.Elements), run, items)),
            Expression.TryFinally(
                Expression.Loop(Expression.IfThenElse(next, turn, Expression.Break(end)), end),
                Expression.Call(elements, typeof(IDisposable).GetMethod(nameof(IDisposable.Dispose))!))); // as above
    }

    /// <summary>Compiles the clauses of a body from an index on, followed by <paramref name="last"/>.</summary>
    private Expression Clauses(QueryBodySyntax body, int clause, Scope scope, Func<Scope, Expression> last)
    {
        if (clause == body.Clauses.Count)
            return last(scope);
        switch (body.Clauses[clause])
        {
            case FromClauseSyntax from:
                return From(
                    from.Identifier.ValueText, compiler.Visit(from.Expression, scope), scope,
                    inner => Clauses(body, clause + 1, inner, last));
            case LetClauseSyntax let:
                return Let(
                    let.Identifier.ValueText, compiler.Visit(let.Expression, scope), scope,
                    inner => Clauses(body, clause + 1, inner, last));
            case WhereClauseSyntax where:
                return Expression.IfThen(compiler.Test(where.Condition, scope), Clauses(body, clause + 1, scope, last));
            default:
                QueryClauseSyntax other = body.Clauses[clause];
                throw source.Refuse(other, other is OrderByClauseSyntax
                    ? "the entries of an index have no order: order the results of a query. Inside a value, 'OrderBy(x => …)' "
                        + "orders an array."
                    : $"'{TextCompiler.Short(other)}' is not among what an index may compute.");
        }
    }

    /// <summary>
    /// Compiles the end of a body; <paramref name="rows"/> runs an expression for every row that the clauses produce.
    /// </summary>
    private Expression Finish(QueryBodySyntax body, Scope scope, Func<Func<Scope, Expression>, Expression> rows)
    {
        QueryContinuationSyntax? next = body.Continuation;
        if (body.SelectOrGroup is SelectClauseSyntax select)
        {
            return next is null
                ? rows(inner => Add(compiler.Visit(select.Expression, inner)))
                : Finish(
                    next.Body, scope,
                    last => rows(
                        inner => Let(
                            next.Identifier.ValueText, compiler.Visit(select.Expression, inner), inner,
                            named => Clauses(next.Body, 0, named, last))));
        }

        var group = (GroupClauseSyntax)body.SelectOrGroup;
        ParameterExpression pairs = Expression.Variable(typeof(List<(Value, Value)>), "pairs");
        Expression collect = rows(
            inner => TextCompiler.Call(
                typeof(QueryRuntime), nameof(QueryRuntime.Pair), pairs, compiler.Visit(group.ByExpression, inner),
                compiler.Visit(group.GroupExpression, inner)));
        Expression groups = TextCompiler.Call(typeof(QueryRuntime), nameof(QueryRuntime.Groups), pairs);
        Expression rest = next is null
            ? Expression.Call(_results, nameof(List<Value>.AddRange), null, Expression.Property(groups, nameof(Value.Items)))
            : Finish(
                next.Body, scope,
                last => From(next.Identifier.ValueText, groups, scope, inner => Clauses(next.Body, 0, inner, last)));
        return Expression.Block([pairs], Expression.Assign(pairs, Expression.New(typeof(List<(Value, Value)>))), collect, rest);
    }

    private static BlockExpression Let(string name, Expression value, Scope scope, Func<Scope, Expression> follow)
    {
        ParameterExpression variable = Expression.Variable(typeof(Value), name);
        return Expression.Block([variable], Expression.Assign(variable, value), follow(scope.With(name, variable)));
    }

    private MethodCallExpression Add(Expression value) => Expression.Call(_results, nameof(List<Value>.Add), null, value);
}
