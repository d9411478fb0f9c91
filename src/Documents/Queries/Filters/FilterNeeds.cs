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
        ILookup<bool, Expression> terms = ExpressionTree.Terms(query.Filter).ToLookup(term => Script(query, term));
        return (ExpressionTree.All([.. terms[false]]), ExpressionTree.All([.. terms[true]]));
    }

    /// <summary>Whether a condition or value needs a script.</summary>
    public static bool Script(RqlQuery query, Expression expression) => expression switch
    {
        PathExpression path => query.Load.Any(load => load.Alias == path.Segments[0].Name),
        MethodExpression method when method.Is("cmpxchg") || method.Is("counter")
            || query.Declarations.Any(declared => declared.Name == method.Name) => true,
        _ => ExpressionTree.Parts(expression).Any(part => Script(query, part)),
    };
}
