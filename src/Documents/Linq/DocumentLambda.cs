using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>A function of a document, as an expression.</summary>
/// <param name="Parameter">The parameter that represents the document.</param>
/// <param name="Body">The body of the function.</param>
internal sealed record DocumentLambda(ParameterExpression Parameter, Expression Body)
{
    public static DocumentLambda Of(LambdaExpression lambda) => new(lambda.Parameters[0], lambda.Body);
}
