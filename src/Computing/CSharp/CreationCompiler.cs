using System.Linq.Expressions;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>Compiles creations of objects, arrays, dictionaries and times.</summary>
internal sealed class CreationCompiler(TextCompiler compiler, TextSource source)
{
    /// <summary>Returns null if the node is not a creation.</summary>
    public Expression? TryVisit(ExpressionSyntax node, Scope scope) => node switch
    {
        AnonymousObjectCreationExpressionSyntax made => Members(
            made.Initializers.Select(
                member => (
                    member.NameEquals?.Name.Identifier.ValueText ?? compiler.ImpliedName(member.Expression), member.Expression)),
            scope),
        ImplicitArrayCreationExpressionSyntax array => Items(array.Initializer.Expressions, scope),
        ArrayCreationExpressionSyntax array => Items(
            array.Initializer?.Expressions ?? throw source.Refuse(array, "an array is made with its elements, 'new[] { … }'."),
            scope),
        CollectionExpressionSyntax list => Items(
            list.Elements.Select(
                element => element is ExpressionElementSyntax one
                    ? one.Expression
                    : throw source.Refuse(element, "only elements one by one.")),
            scope),
        ObjectCreationExpressionSyntax made => Create(made, scope),
        _ => null,
    };

    private Expression Create(ObjectCreationExpressionSyntax made, Scope scope)
    {
        string type = TextCompiler.TypeName(made.Type);
        Expression[] arguments =
            [.. (made.ArgumentList?.Arguments ?? []).Select(argument => compiler.Visit(argument.Expression, scope))];
        if (type is "DateTime" or "DateTimeOffset" or "TimeSpan" && made.Initializer is null)
            return TextCompiler.Call(
                typeof(Creations), type == "TimeSpan" ? nameof(Creations.Span) : nameof(Creations.Time),
                Expression.NewArrayInit(typeof(Value), arguments));
        if (arguments.Length > 0)
            throw source.Refuse(
                made,
                $"'new {type}(…)' is not among what an index may compute; 'new {{ … }}', 'new[] {{ … }}', 'new DateTime(…)' and "
                    + $"'new TimeSpan(…)' are.");
        SeparatedExpressions initial = new(made.Initializer);
        if (initial.Kind == SyntaxKind.CollectionInitializerExpression
            && !initial.Expressions.Any(static one => one is InitializerExpressionSyntax))
            return Items(initial.Expressions, scope);
        return Pairs(made, initial.Expressions, scope);
    }

    private Expression Items(IEnumerable<ExpressionSyntax> items, Scope scope) =>
        TextCompiler.Call(
            typeof(Creations), nameof(Creations.Items),
            Expression.NewArrayInit(typeof(Value), items.Select(item => compiler.Visit(item, scope))));

    private Expression Members(IEnumerable<(string Name, ExpressionSyntax Value)> members, Scope scope)
    {
        (string Name, ExpressionSyntax Value)[] all = [.. members];
        return TextCompiler.Call(
            typeof(Creations), nameof(Creations.Members), Expression.Constant(all.Select(static member => member.Name).ToArray()),
            Expression.NewArrayInit(typeof(Value), all.Select(member => compiler.Visit(member.Value, scope))));
    }

    /// <summary>Compiles <c>{ A = x }</c>, <c>{ ["a"] = x }</c> or <c>{ { "a", x } }</c>.</summary>
    private Expression Pairs(ObjectCreationExpressionSyntax made, IEnumerable<ExpressionSyntax> initial, Scope scope)
    {
        var names = new List<Expression>();
        var values = new List<Expression>();
        foreach (ExpressionSyntax pair in initial)
        {
            switch (pair)
            {
                case AssignmentExpressionSyntax { Left: IdentifierNameSyntax name } assignment:
                    names.Add(Expression.Constant(Value.Of(name.Identifier.ValueText)));
                    values.Add(compiler.Visit(assignment.Right, scope));
                    break;
                case AssignmentExpressionSyntax
                {
                    Left: ImplicitElementAccessSyntax
                    {
                        ArgumentList.Arguments: [{ } key]
                    }
                } assignment:
                    names.Add(compiler.Visit(key.Expression, scope));
                    values.Add(compiler.Visit(assignment.Right, scope));
                    break;
                case InitializerExpressionSyntax { Expressions: [{ } key, { } value] }:
                    names.Add(compiler.Visit(key, scope));
                    values.Add(compiler.Visit(value, scope));
                    break;
                default:
                    throw source.Refuse(pair, $"'{TextCompiler.Short(made)}' is not among what an index may compute.");
            }
        }

        return TextCompiler.Call(
            typeof(Creations), nameof(Creations.Pairs), Expression.NewArrayInit(typeof(Value), names),
            Expression.NewArrayInit(typeof(Value), values));
    }

    private readonly struct SeparatedExpressions(InitializerExpressionSyntax? initializer)
    {
        public SyntaxKind Kind => initializer?.Kind() ?? SyntaxKind.ObjectInitializerExpression;

        public IEnumerable<ExpressionSyntax> Expressions => initializer?.Expressions ?? [];
    }
}
