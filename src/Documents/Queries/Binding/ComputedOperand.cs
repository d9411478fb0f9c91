using Treepie.Indexes.Definitions;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// <c>year(At)</c>, <c>utc(At)</c>, <c>count(Lines)</c>, <c>length(id())</c>: functions of one path or of the id, whose values
/// are fields of indexes that queries make.
/// </summary>
internal static class ComputedOperand
{
    /// <summary>Returns the kind of the field and the path, or the id; null if the operand is another one.</summary>
    public static (AutoIndexFieldKind Kind, Expression Path)? Of(RqlQuery query, Expression operand) =>
        operand is MethodExpression { Arguments: [{ Value: var path, Alias: null }] } method
        && ComputedKinds.Find(method.Name) is { } kind
        && !query.Declares(method)
        && !(path is PathExpression { Segments: [{ } root, ..] } && query.Load.Any(load => load.Alias == root.Name))
        && (IsPath(path, mayEndInBrackets: kind != AutoIndexFieldKind.Count) || IsTextOfId(query, path, kind))
            ? (kind, path)
            : null;

    private static bool IsTextOfId(RqlQuery query, Expression argument, AutoIndexFieldKind kind) =>
        kind is not (AutoIndexFieldKind.Utc or AutoIndexFieldKind.Count)
        && argument is MethodExpression { Arguments: var of } id
        && id.Is("id")
        && !query.Declares(id)
        && (of.Count == 0
            || (of is [{ Value: PathExpression { Segments: [{ Elements.Count: 0 } only] } }] && only.Name == query.From.Alias));

    /// <summary>Whether an argument is a path. That of <c>count()</c> may not end in brackets.</summary>
    private static bool IsPath(Expression argument, bool mayEndInBrackets) => argument switch
    {
        PathExpression { Segments: [.., { } last] } => mayEndInBrackets || last.Elements.Count == 0,
        LiteralExpression { Kind: LiteralKind.String, Text: var path } =>
            mayEndInBrackets || !path.EndsWith(']'),
        _ => false,
    };
}
