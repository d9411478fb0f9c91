using Treepie.Rql.Syntax;

namespace Treepie.Queries.Filters;

/// <summary>
/// Determines which conditions need a script, because they call functions that only scripts have or use loaded documents.
/// </summary>
internal static class FilterNeeds
{
    /// <summary>
    /// Divides the condition of <c>filter</c> into what needs no script and what does, both of which must hold. Either is null if
    /// there is nothing of it.
    /// </summary>
    public static (Expression? Plain, Expression? Scripted) Divide(RqlQuery query)
    {
        var clauses = new List<Expression>();
        Add(query.Filter);
        return (All(clauses.FindAll(clause => !Script(query, clause))), All(clauses.FindAll(clause => Script(query, clause))));

        void Add(Expression? expression)
        {
            if (expression is AndExpression and)
                foreach (Expression clause in and.Clauses)
                    Add(clause);
            else if (expression is not null)
                clauses.Add(expression);
        }
    }

    private static Expression? All(List<Expression> clauses) => clauses switch
    {
        [] => null,
        [var only] => only,
        [var first, ..] => new AndExpression(first.Position, clauses),
    };

    /// <summary>Whether a condition or value needs a script.</summary>
    public static bool Script(RqlQuery query, Expression expression)
    {
        bool Needs(Expression inner) => Script(query, inner);
        return expression switch
        {
            AndExpression and => and.Clauses.Any(Needs),
            OrExpression or => or.Clauses.Any(Needs),
            NotExpression not => Needs(not.Clause),
            CompareExpression compare => Needs(compare.Left) || Needs(compare.Right),
            BetweenExpression between => Needs(between.Operand) || Needs(between.Low) || Needs(between.High),
            InExpression list => Needs(list.Operand) || list.Values.Any(Needs),
            PathExpression path => query.Load.Any(load => load.Alias == path.Segments[0].Name),
            MethodExpression method => method.Is("cmpxchg") || method.Is("counter")
                || query.Declarations.Any(declared => declared.Name == method.Name)
                || method.Arguments.Any(argument => Needs(argument.Value)),
            _ => false,
        };
    }
}
