using Treepie.Rql.Syntax;

namespace Treepie.Documents.Tests.Rql;

/// <summary>A syntax tree as text with every grouping shown, for tests to compare.</summary>
internal static class SyntaxText
{
    public static string Of(RqlQuery query)
    {
        var parts = new List<string>();
        parts.AddRange(
            query.Declarations.Select(
                d => $"declare {(d.IsTimeSeries ? "timeseries" : "function")} {d.Name}{d.Parameters}{d.Body}"));
        FromClause from = query.From;
        parts.Add(
            $"from {(from.IsIndex ? "index " : "")}<{from.Name}>{(from.PreFilter is null ? "" : $"({Of(from.PreFilter)})")}"
                + $"{(from.Alias is null ? "" : " as " + from.Alias)}");
        Add("group by", query.GroupBy.Select(Of));
        Add("where", Optional(query.Where));
        Add("order by", query.OrderBy.Select(Of));
        Add("load", query.Load.Select(l => $"{Of(l.Source)} as {l.Alias}{(l.Many ? "[]" : "")}"));
        Add("filter", Optional(query.Filter));
        if (query.Select is { } select)
            parts.Add(
                $"select {(select.Distinct ? "distinct " : "")}"
                    + $"{(select.Everything ? "*" : select.Script?.Text ?? string.Join(", ", select.Items.Select(Of)))}");
        Add("update", query.Update is null ? [] : [query.Update.Text]);
        Add("include", query.Include.Select(Of));
        Add("skip", Optional(query.Skip));
        Add("take", Optional(query.Take));
        Add("filter_limit", Optional(query.FilterLimit));
        return string.Join(' ', parts);

        void Add(string clause, IEnumerable<string> items)
        {
            string text = string.Join(", ", items);
            if (text.Length > 0)
                parts.Add($"{clause} {text}");
        }
    }

    public static string Of(Expression expression) => expression switch
    {
        LiteralExpression { Kind: LiteralKind.String } literal => $"\"{literal.Text}\"",
        LiteralExpression literal => literal.Text,
        ParameterExpression parameter => "$" + parameter.Name,
        PathExpression path => string.Join('.', path.Segments),
        MethodExpression method =>
            $"{method.Name}("
                + $"{string.Join(", ", method.Arguments.Select(a => Of(a.Value) + (a.Alias is null ? "" : " as " + a.Alias)))})",
        CompareExpression compare => $"{Of(compare.Left)} {Sign(compare.Operator)} {Of(compare.Right)}",
        BetweenExpression between => $"{Of(between.Operand)} between {Of(between.Low)} and {Of(between.High)}",
        InExpression list => $"{Of(list.Operand)} {(list.All ? "all in" : "in")} ({string.Join(", ", list.Values.Select(Of))})",
        AndExpression and => $"[{string.Join(" and ", and.Clauses.Select(Of))}]",
        OrExpression or => $"[{string.Join(" or ", or.Clauses.Select(Of))}]",
        NotExpression not => $"not {Of(not.Clause)}",
        TimeSeriesExpression series => Of(series),
        _ => throw new InvalidOperationException($"No text for {expression.GetType().Name}."),
    };

    private static string Of(TimeSeriesExpression series) => "timeseries(" + string.Join(
        ' ',
        [
            $"from {Of(series.Source)}",
            .. Optional(series.From).Select(from => $"between {from} and {Of(series.To!)}"), // it has both
            .. Optional(series.First).Select(static first => $"first {first}"),
            .. Optional(series.Last).Select(static last => $"last {last}"),
            .. series.TagAlias is null ? [] : (string[])[$"load Tag as {series.TagAlias}"],
            .. Optional(series.Where).Select(static where => $"where {where}"),
            .. Optional(series.Period).Select(static period => $"group by {period}"),
            .. Optional(series.Key).Select(static key => $", {key}"),
            .. series.Items.Count == 0 ? [] : (string[])[$"select {string.Join(", ", series.Items.Select(Of))}"],
            .. Optional(series.Scale).Select(static scale => $"scale {scale}"),
            .. Optional(series.Offset).Select(static offset => $"offset {offset}"),
        ]) + ")";

    private static string Of(AliasedExpression item) => Of(item.Value) + (item.Alias is null ? "" : " as " + item.Alias);

    private static string Of(OrderKey key) =>
        Of(key.Value)
        + (key.Type == OrderType.Default ? "" : " as " + key.Type.ToString().ToLowerInvariant())
        + (key.Descending ? " desc" : "")
        + (key.NullsFirst is { } first ? first ? " nulls first" : " nulls last" : "");

    private static IEnumerable<string> Optional(Expression? expression) => expression is null ? [] : [Of(expression)];

    private static string Sign(CompareOperator comparison) => comparison switch
    {
        CompareOperator.Equal => "=",
        CompareOperator.NotEqual => "!=",
        CompareOperator.Less => "<",
        CompareOperator.LessOrEqual => "<=",
        CompareOperator.Greater => ">",
        _ => ">=",
    };
}
