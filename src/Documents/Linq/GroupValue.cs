using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>What an index keeps of a group: the sum of a member, or the number of its documents.</summary>
/// <param name="member">The member of which there is a sum; null: the number of documents.</param>
/// <param name="type">The type that it is read as.</param>
internal sealed class GroupValue(LambdaExpression? member, Type type) : Expression
{
    public LambdaExpression? Member => member;

    public override ExpressionType NodeType => ExpressionType.Extension;

    public override Type Type => type;

    /// <summary>The average of a member over the documents of a group; null where sum and number do not give it.</summary>
    public static Expression? Average(LambdaExpression member)
    {
        // Of members that can be null, LINQ passes over those that are, and the number counts them.
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
