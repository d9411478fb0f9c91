namespace Treepie.Rql.Syntax;

/// <summary>Takes expressions apart and puts conditions together.</summary>
internal static class ExpressionTree
{
    /// <summary>Returns the expressions that one is made of, without those within them.</summary>
    public static IEnumerable<Expression> Parts(Expression expression) => expression switch
    {
        AndExpression and => and.Clauses,
        OrExpression or => or.Clauses,
        NotExpression not => [not.Clause],
        CompareExpression compare => [compare.Left, compare.Right],
        BetweenExpression between => [between.Operand, between.Low, between.High],
        InExpression list => list.Values.Prepend(list.Operand),
        MethodExpression method => method.Arguments.Select(static argument => argument.Value),
        _ => [],
    };

    /// <summary>Returns the conditions that must all hold for one to hold; none of null.</summary>
    public static IEnumerable<Expression> Terms(Expression? condition) => condition switch
    {
        null => [],
        AndExpression and => and.Clauses.SelectMany(Terms),
        _ => [condition],
    };

    /// <summary>Returns the condition that all of these hold, or null if there are none.</summary>
    public static Expression? All(IReadOnlyList<Expression> terms) => terms switch
    {
        [] => null,
        [var only] => only,
        [var first, ..] => new AndExpression(first.Position, terms),
    };
}
