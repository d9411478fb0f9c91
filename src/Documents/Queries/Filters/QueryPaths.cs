using Treepie.Indexes.Fields;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Filters;

/// <summary>Paths of a query, for conditions that an index answers and for those that documents answer.</summary>
internal static class QueryPaths
{
    /// <summary>Returns the path of an expression without the alias of the source.</summary>
    /// <exception cref="InvalidQueryException">It is the alias alone, or no path.</exception>
    public static FieldPath Of(RqlQuery query, PathExpression expression)
    {
        IReadOnlyList<PathSegment> segments = expression.Segments;
        string? alias = query.From.Alias;
        bool startsWithAlias = alias is not null && segments[0].Name == alias && segments[0].Elements.Count == 0;
        if (startsWithAlias && segments.Count == 1)
            throw RqlErrors.At(
                query.Text, expression.Position,
                $"'{alias}' is the whole document, and a field is expected here: {alias}.Name.");

        return Parse(query, string.Join('.', startsWithAlias ? segments.Skip(1) : segments), expression.Position);
    }

    /// <summary>Parses a path.</summary>
    /// <exception cref="InvalidQueryException">It is no path.</exception>
    public static FieldPath Parse(RqlQuery query, string path, int position) =>
        FieldPath.TryParse(path)
            ?? throw RqlErrors.At(
                query.Text, position, $"'{path}' is not a path: members are apart by '.', and '[]' or '[n]' may follow them.");
}
