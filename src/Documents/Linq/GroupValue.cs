using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>An aggregate of a group that an index stores: the sum of a member, or the number of documents.</summary>
/// <param name="member">The member to sum; null: the number of documents.</param>
/// <param name="type">The type of the result.</param>
internal sealed class GroupValue(LambdaExpression? member, Type type) : Expression
{
    public LambdaExpression? Member => member;

    public override ExpressionType NodeType => ExpressionType.Extension;

    public override Type Type => type;

    /// <summary>
    /// Returns the average of a member over a group's documents; null if it cannot be computed from sum and count.
    /// </summary>
    public static Expression? Average(LambdaExpression member)
    {
        // LINQ ignores null members in averages, but the count includes them.
        Type? type = System.Type.GetTypeCode(member.ReturnType) switch
        {
            TypeCode.Int32 or TypeCode.Int64 or TypeCode.Double => typeof(double),
            TypeCode.Decimal => typeof(decimal),
            _ => null,
        };
        return type is null ? null : Divide(new GroupValue(member, type), new GroupValue(null, type));
    }

    protected override Expression VisitChildren(ExpressionVisitor visitor) => this;
}
