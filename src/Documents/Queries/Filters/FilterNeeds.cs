using Treepie.Rql.Syntax;

namespace Treepie.Queries.Filters;

/// <summary>
/// Determines whether a condition needs a script, because it calls functions that only scripts have or uses loaded documents.
/// </summary>
internal static class FilterNeeds
{
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
            PathExpression path => path.Segments[0].Elements.Count == 0
                && query.Load.Any(load => load.Alias == path.Segments[0].Name),
            MethodExpression method => method.Is("cmpxchg") || method.Is("counter")
                || query.Declarations.Any(declared => declared.Name == method.Name)
                || method.Arguments.Any(argument => Needs(argument.Value)),
            _ => false,
        };
    }
}
