using System.Collections.Immutable;
using Treepie.Indexes.Fields;
using Treepie.Queries.Filters;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// The paths of documents that SELECT, FILTER, LOAD and INCLUDE name, and functions in ORDER BY, without conditions that need a
/// script, and those that are certain in the JavaScript of SELECT: whether any document has them, no index of the query tells.
/// </summary>
internal sealed class MentionedPaths
{
    private readonly RqlQuery _query;
    private readonly Dictionary<string, FieldPath> _found = new(StringComparer.Ordinal);

    private MentionedPaths(RqlQuery query) => _query = query;

    /// <summary>Returns the paths of a query over documents, each once.</summary>
    public static IReadOnlyList<FieldPath> Of(RqlQuery query)
    {
        if (query is { Select: null, Filter: null, Load.Count: 0, Include.Count: 0 }
            && query.OrderBy.All(static key => key.Value is not MethodExpression))
            return [];
        var paths = new MentionedPaths(query);
        foreach (AliasedExpression item in query.Select?.Items ?? [])
            paths.AddField(item.Value);
        if (query.Select?.Script is { } script)
            foreach (string member in ScriptMembers.Of(script.Text, query.From.Alias ?? "this"))
                paths.AddPath(member);
        foreach (OrderKey key in query.OrderBy)
            if (key.Value is MethodExpression computed)
                paths.AddField(computed);
        foreach (LoadItem load in query.Load)
            paths.AddField(load.Source);
        foreach (Expression include in query.Include)
            if (include is not LiteralExpression { Text: var id } || !id.Contains('/', StringComparison.Ordinal))
                paths.AddField(include);
        if (query.Filter is { } filter)
            paths.Add(filter, ImmutableDictionary<string, string>.Empty);
        return [.. paths._found.Values];
    }

    /// <summary>Adds a value that may be a path in quotes.</summary>
    private void AddField(Expression value)
    {
        if (value is LiteralExpression { Kind: LiteralKind.String } quoted)
            AddPath(WithoutAlias(quoted.Text));
        else
            Add(value, ImmutableDictionary<string, string>.Empty);
    }

    /// <param name="expression">A condition or a value.</param>
    /// <param name="elements">The arrays whose elements have names where it stands, by name.</param>
    private void Add(Expression expression, ImmutableDictionary<string, string> elements)
    {
        switch (expression)
        {
            case PathExpression path:
                AddPath(TextOf(path, elements));
                break;
            case MethodExpression { Arguments: [{ Value: PathExpression array, Alias: { } name }, ..] } method:
                string? text = TextOf(array, elements);
                AddPath(text);
                foreach (MethodArgument argument in method.Arguments.Skip(1).Where(_ => text is not null))
                    Add(argument.Value, elements.SetItem(name, $"{text}[]"));
                break;
            case MethodExpression { Arguments: [{ Value: LiteralExpression { Kind: LiteralKind.String } quoted }, ..] } method
                when TakesPath(method):
                AddPath(quoted.Text);
                break;
            case MethodExpression method when !TakesPath(method) && !_query.Declares(method):
                break; // facets and suggestions are asked of an index; ids, counters and time series are no fields
            default:
                foreach (Expression part in ExpressionTree.Parts(expression))
                    Add(part, elements);
                break;
        }
    }

    private static bool TakesPath(MethodExpression method) =>
        FilterFunctions.Knows(method.Name) || FilterBuilder.Knows(method.Name);

    /// <summary>Returns the path in documents; null of a whole document and of what LOAD brings.</summary>
    private string? TextOf(PathExpression path, ImmutableDictionary<string, string> elements)
    {
        PathSegment root = path.Segments[0];
        string rest = string.Join('.', path.Segments.Skip(1));
        if (root.Elements.Count == 0 && elements.TryGetValue(root.Name, out string? array))
            return rest.Length == 0 ? null : $"{array}.{rest}";
        if (root.Elements.Count == 0 && root.Name == _query.From.Alias)
            return rest.Length == 0 ? null : rest;
        return _query.LoadNames.Contains(root.Name) ? null : string.Join('.', path.Segments);
    }

    private string WithoutAlias(string path) =>
        _query.From.Alias is { } alias && path.StartsWith(alias + ".", StringComparison.Ordinal)
            ? path[(alias.Length + 1)..]
            : path;

    private void AddPath(string? text)
    {
        if (text is not null && FieldPath.TryParse(text) is { IsMetadata: false } path)
            _found.TryAdd(text, path);
    }
}
