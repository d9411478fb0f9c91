using Treepie.Indexes.Definitions;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// <c>year(At)</c>, <c>utc(At)</c>, <c>count(Lines)</c>: functions of one path, whose values are fields of indexes that queries
/// make.
/// </summary>
internal static class ComputedOperand
{
    /// <summary>Returns the kind of the field and the path; null if the operand is another one.</summary>
    public static (AutoIndexFieldKind Kind, Expression Path)? Of(RqlQuery query, Expression operand) =>
        operand is MethodExpression { Arguments: [{ Value: var path, Alias: null }] } method
        && ComputedKinds.Find(method.Name) is { } kind
        && !query.Declares(method)
        && !(path is PathExpression { Segments: [{ } root, ..] } && query.Load.Any(load => load.Alias == root.Name))
        && IsPath(path, mayEndInBrackets: kind != AutoIndexFieldKind.Count)
            ? (kind, path)
            : null;

    /// <summary>Whether an argument is a path. That of <c>count()</c> may not end in brackets.</summary>
    private static bool IsPath(Expression argument, bool mayEndInBrackets) => argument switch
    {
        PathExpression { Segments: [.., { } last] } => mayEndInBrackets || last.Elements.Count == 0,
        LiteralExpression { Kind: LiteralKind.String, Text: var path } =>
            mayEndInBrackets || !path.EndsWith(']'),
        _ => false,
    };
}
