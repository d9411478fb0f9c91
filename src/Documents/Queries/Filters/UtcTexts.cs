using Treepie.Rql.Syntax;

namespace Treepie.Queries.Filters;

/// <summary><c>utc(path)</c>: the moment of a time, whatever its offset.</summary>
internal static class UtcTexts
{
    /// <summary>Whether an operand is <c>utc(path)</c>.</summary>
    public static bool Is(Expression operand) => TimeOf(operand) is not null;

    /// <summary>Returns the path in <c>utc(path)</c>; null if the operand is another one.</summary>
    public static Expression? TimeOf(Expression operand) =>
        operand is MethodExpression { Arguments: [{ Value: var path }] } method
            && method.Is("utc")
            && path is PathExpression or LiteralExpression { Kind: LiteralKind.String }
                ? path
                : null;
}
