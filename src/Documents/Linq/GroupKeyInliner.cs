using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// Replaces a group's key by the expression it is grouped by, and an average by a sum divided by a count.
/// </summary>
internal sealed class GroupKeyInliner(ParameterExpression group, Expression key) : ExpressionVisitor
{
    protected override Expression VisitMember(MemberExpression node)
    {
        if (node.Expression == group && node.Member.Name == "Key")
            return key;
        Expression? owner = Visit(node.Expression);
        if (owner is NewExpression { Members: { } members } made)
        {
            for (int i = 0; i < members.Count; i++)
                if (members[i].Name == node.Member.Name)
                    return made.Arguments[i];
        }

        return node.Update(owner);
    }

    protected override Expression VisitMethodCall(MethodCallExpression node) =>
        node.Method.Name == "Average"
        && node.Method.DeclaringType == typeof(Enumerable)
        && node.Arguments is [{ } source, LambdaExpression member]
        && source == group
        && GroupValue.Average(member) is { } average
            ? average
            : base.VisitMethodCall(node);
}
