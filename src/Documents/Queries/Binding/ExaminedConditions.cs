using System.Collections.Immutable;
using System.Text;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Queries.Filters;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Conditions of WHERE that no index answers: comparisons of fields with one another, values that are computed of documents, and
/// counters. They are moved to FILTER, which examines documents one by one, with all that OR and NOT join them with. Together
/// with what only an index can tell, they are refused when they are bound.
/// </summary>
internal static class ExaminedConditions
{
    private const string IndexExample = "(from o in docs.Orders select new { Year = o.At.Year, IsPaid = o.Paid >= o.Total })";

    /// <summary>What errors say about conditions that are not moved.</summary>
    public static string WayOut(RqlQuery query) => Suggests(query)
        ? $"With 'suggest()' no documents are examined: ask an index for a field that computes it {IndexExample}."
        : "In queries that only read, documents are examined for such a condition and for conditions joined with it by 'or' and "
            + "'not', except those that need an index, like search(). To change the documents found, write it after 'filter'.";

    /// <summary>Whether a query asks for facets or suggestions, not for documents.</summary>
    public static bool ReturnsCounts(RqlQuery query) => query.Select is { } select
        && select.Items.Any(item => FacetBinder.IsFacet(item.Value) || SuggestionBinder.IsSuggestion(item.Value));

    /// <summary>Whether a query asks for suggestions.</summary>
    public static bool Suggests(RqlQuery query) =>
        query.Select is { } select && select.Items.Any(static item => SuggestionBinder.IsSuggestion(item.Value));

    /// <summary>Returns the query with these conditions in FILTER, and a warning about them; null if there are none.</summary>
    /// <param name="query">The query.</param>
    /// <param name="index">The named index of the query, or null.</param>
    /// <exception cref="InvalidQueryException">The conditions cannot be moved.</exception>
    public static (RqlQuery Query, string? Warning) Divide(RqlQuery query, IndexMapping? index)
    {
        if (Suggests(query))
            return (query, null);

        List<Expression> answered = [], examined = [];
        List<string> reasons = [];
        foreach (Expression term in ExpressionTree.Terms(query.Where))
        {
            string? reason = ReasonOf(query, index, term);
            (reason is null ? answered : examined).Add(term);
            if (reason is not null)
                reasons.Add(reason);
        }

        if (examined.Count == 0)
            return (query, null);

        if (index is StaticIndexMapping { KeepsObjects: false } named)
            foreach (Expression term in examined)
                RequireKnown(query, term, named);
        return (
            query with
            {
                Where = ExpressionTree.All(answered),
                Filter = ExpressionTree.All([.. examined, .. ExpressionTree.Terms(query.Filter)]),
            },
            $"No index answers this of 'where': {string.Join(", ", reasons.Distinct())}. So what the other conditions leave is "
                + $"examined one by one, as 'filter' does. It is fast if an index computes it {IndexExample} and is asked for "
                + "its field.");
    }

    /// <summary>Requires that documents have the fields of a named index in an expression, or that it keeps them.</summary>
    /// <exception cref="InvalidQueryException">They may not.</exception>
    public static void RequireKnown(RqlQuery query, Expression expression, StaticIndexMapping index) =>
        RequireKnown(query, expression, index, []);

    /// <summary>Returns what it is that no index answers; null if an index may.</summary>
    private static string? ReasonOf(RqlQuery query, IndexMapping? index, Expression condition) => condition switch
    {
        CompareExpression compare => Unanswered(query, index, compare.Left)
            ?? Computed(query, compare.Right)
            ?? (IsField(compare.Right) ? Fields(query, compare) : null),
        BetweenExpression between => Unanswered(query, index, between.Operand),
        InExpression list => Unanswered(query, index, list.Operand),
        MethodExpression { Arguments: [{ Value: var inner }] } method when method.Is("exact") => ReasonOf(query, index, inner),
        MethodExpression { Arguments: [{ Value: var there }] } method when method.Is("exists") => Unanswered(query, index, there),
        MethodExpression { Arguments: [{ Value: var operand }, _] } method
            when method.Is("startsWith") || method.Is("endsWith") || method.Is("regex") =>
            Unanswered(query, index, operand),
        MethodExpression method when method.Is(FilterBuilder.AnyMethod) || IsDeclared(query, method) => $"'{method.Name}()'",
        AndExpression or OrExpression or NotExpression when IsExaminable(query, condition) =>
            ExpressionTree.Parts(condition).Select(part => ReasonOf(query, index, part))
                .FirstOrDefault(static reason => reason is not null),
        _ => null,
    };

    /// <summary>Whether a condition can be evaluated on documents, without an index.</summary>
    private static bool IsExaminable(RqlQuery query, Expression condition) => condition switch
    {
        AndExpression or OrExpression or NotExpression =>
            ExpressionTree.Parts(condition).All(part => IsExaminable(query, part)),
        MethodExpression method => FilterBuilder.Knows(method.Name) || IsDeclared(query, method),
        _ => true,
    };

    /// <summary>Returns what is computed of documents; null if an index that queries make has it as a field.</summary>
    private static string? Unanswered(RqlQuery query, IndexMapping? index, Expression operand) =>
        UtcTexts.Is(operand) || (index is not StaticIndexMapping && ComputedOperand.Of(query, operand) is not null)
            ? null
            : operand is MethodExpression method && method.Is("cmpxchg") ? "'cmpxchg()'" : Computed(query, operand);

    private static string? Computed(RqlQuery query, Expression operand) => operand switch
    {
        MethodExpression declared when IsDeclared(query, declared) => $"'{declared.Name}()'",
        MethodExpression { Arguments.Count: > 0 } method
            when !UtcTexts.Is(method) && (FilterFunctions.Knows(method.Name) || method.Is("counter")) => $"'{method.Name}()'",
        _ => null,
    };

    /// <summary>Whether a call is of a function of the query, which has no name that indexes answer.</summary>
    private static bool IsDeclared(RqlQuery query, MethodExpression call) =>
        query.Declares(call) && !FunctionNames.Conditions.Contains(call.Name, StringComparer.OrdinalIgnoreCase);

    private static bool IsField(Expression value) =>
        value is PathExpression || UtcTexts.Is(value) || (value is MethodExpression method && method.Is("id"));

    private static string Fields(RqlQuery query, CompareExpression compare)
    {
        string left = NameOf(query, compare.Left), right = NameOf(query, compare.Right);
        return compare.Right is PathExpression { Segments: [{ Elements.Count: 0, Quoted: false }] }
            ? $"{left} compared with {right} (a field; a text is written in quotes)"
            : $"{left} compared with {right}";
    }

    private static string NameOf(RqlQuery query, Expression operand) => operand switch
    {
        PathExpression path => PathOf(query, path),
        _ when UtcTexts.TimeOf(operand) is { } time => $"utc({NameOf(query, time)})",
        LiteralExpression literal => literal.Text,
        MethodExpression method => $"{method.Name}()",
        _ => "a value",
    };

    /// <summary>Requires that documents have the fields of a named index in a condition, or that the index keeps them.</summary>
    /// <param name="query">The query.</param>
    /// <param name="expression">The condition, or a part of it.</param>
    /// <param name="index">The index.</param>
    /// <param name="elements">The names that array elements have where the expression stands.</param>
    private static void RequireKnown(
        RqlQuery query, Expression expression, StaticIndexMapping index, ImmutableStack<string> elements)
    {
        if (expression is PathExpression path
            && !(path.Segments[0] is { Elements.Count: 0, Name: var root } && elements.Contains(root)))
            RequireKnown(query, PathOf(query, path), path.Position, index);
        if (expression is MethodExpression { Arguments: [{ Value: LiteralExpression text }, ..] } asked
            && (asked.Is("exists") || asked.Is("startsWith") || asked.Is("endsWith") || asked.Is("regex")))
            RequireKnown(query, text.Text, text.Position, index);
        string? element = expression is MethodExpression { Arguments: [{ Alias: var name }, ..] } ? name : null;
        foreach ((int place, Expression part) in ExpressionTree.Parts(expression).Index())
            RequireKnown(query, part, index, place == 0 || element is null ? elements : elements.Push(element));
    }

    private static void RequireKnown(RqlQuery query, string path, int position, StaticIndexMapping index)
    {
        if (FieldPath.TryParse(path) is not { } members)
            return; // refused when it is bound
        string name = "";
        for (int i = 0; i < members.Count; i++)
        {
            name += (i == 0 ? "" : ".") + Encoding.UTF8.GetString(members.NameOf(i));
            if (index.FieldNames.Contains(name)
                && !index.StoredFields.Any(field => field.Name == name)
                && index.Map?.Copied.Contains(name) != true)
                throw RqlErrors.At(
                    query.Text, position,
                    $"'{name}' is a field of the index '{index.Name}', which does not keep it, and documents may have another "
                        + "value under this name, so it cannot be examined: keep it (\"Storage\": \"Yes\"), compute the whole "
                        + "condition in the map, or query the collection instead of the index.");
        }
    }

    private static string PathOf(RqlQuery query, PathExpression path) => string.Join(
        '.', path.Segments.Count > 1 && path.Segments[0].Name == query.From.Alias ? path.Segments.Skip(1) : path.Segments);
}
