using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>A member with the value that stands for null: <c>o.Rating ?? 0</c>, <c>o.Rating.GetValueOrDefault()</c>.</summary>
/// <param name="Member">The member.</param>
/// <param name="Otherwise">The value for null.</param>
internal sealed record DefaultedMember(Expression Member, Expression Otherwise)
{
    /// <summary>Returns the parts of an expression; null if it is none.</summary>
    public static DefaultedMember? Of(Expression expression) => expression switch
    {
        BinaryExpression { NodeType: ExpressionType.Coalesce, Conversion: null } either => new(either.Left, either.Right),
        MethodCallExpression { Method.Name: "GetValueOrDefault", Object: { } member } call
            when Nullable.GetUnderlyingType(member.Type) is not null => new(
                member, call.Arguments is [{ } value] ? value : Expression.Default(call.Type)),
        UnaryExpression { NodeType: ExpressionType.Convert, Method: null } convert when Of(convert.Operand) is { } inner => new(
            inner.Member, Expression.Convert(inner.Otherwise, convert.Type)),
        _ => null,
    };

    /// <summary>Returns a condition on it as one on the member, or on the other value where the member is null.</summary>
    public Expression With(Func<Expression, Expression> condition)
    {
        Expression isNull = Expression.Equal(Member, Expression.Constant(null, Member.Type));
        Expression value = Member.Type == Otherwise.Type ? Member : Expression.Convert(Member, Otherwise.Type);
        return Expression.OrElse(
            Expression.AndAlso(Expression.Not(isNull), condition(value)), Expression.AndAlso(isNull, condition(Otherwise)));
    }
}
