using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// Replaces a parameter by an expression, and members of a new object by what they were initialized with: after
/// <c>select new { o.City }</c>, the condition <c>r.City == "Reims"</c> becomes a condition on <c>o.City</c>.
/// </summary>
internal sealed class Inliner(ParameterExpression parameter, Expression replacement) : ExpressionVisitor
{
    /// <summary>Returns a lambda's body with its parameter replaced.</summary>
    public static Expression Inline(LambdaExpression lambda, Expression replacement) =>
        new Inliner(lambda.Parameters[0], replacement).Visit(lambda.Body);

    protected override Expression VisitParameter(ParameterExpression node) => node == parameter ? replacement : node;

    protected override Expression VisitMember(MemberExpression node)
    {
        Expression? owner = Visit(node.Expression);
        if (owner is NewExpression { Members: { } members } made)
        {
            for (int i = 0; i < members.Count; i++)
                if (members[i].Name == node.Member.Name)
                    return made.Arguments[i];
        }

        if (owner is NewExpression { Constructor: { } constructor } record)
        {
            // A positional record has a property for each parameter of its constructor.
            System.Reflection.ParameterInfo[] parameters = constructor.GetParameters();
            for (int i = 0; i < parameters.Length; i++)
                if (parameters[i].Name == node.Member.Name)
                    return record.Arguments[i];
        }

        if (owner is MemberInitExpression initialized)
        {
            foreach (MemberBinding binding in initialized.Bindings)
                if (binding is MemberAssignment assignment && assignment.Member.Name == node.Member.Name)
                    return assignment.Expression;
        }

        return node.Update(owner);
    }
}
