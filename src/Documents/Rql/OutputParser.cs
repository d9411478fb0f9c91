using Treepie.Rql.Syntax;

namespace Treepie.Rql;

/// <summary>
/// Parses the clauses for the output: GROUP BY, ORDER BY, SELECT, INCLUDE, UPDATE, LIMIT, OFFSET and FILTER_LIMIT.
/// </summary>
internal sealed class OutputParser(RqlLexer lexer, ExpressionParser expressions)
{
    public IReadOnlyList<AliasedExpression> ParseGroupKeys()
    {
        var keys = new List<AliasedExpression>();
        do
        {
            Expression key = expressions.ParseValueOrOperand("a field to group by");
            bool hasAlias = lexer.TakeWord("as")
                || (lexer.Is(RqlTokenKind.Identifier) && !RqlKeywords.IsClauseStart(lexer.Current.Text));
            keys.Add(new AliasedExpression(key, hasAlias ? ParseAlias() : null));
        }
        while (lexer.Take(RqlTokenKind.Comma));

        return keys;
    }

    public IReadOnlyList<OrderKey> ParseOrderKeys()
    {
        var keys = new List<OrderKey>();
        do
            keys.Add(ParseOrderKey());
        while (lexer.Take(RqlTokenKind.Comma));

        return keys;
    }

    private OrderKey ParseOrderKey()
    {
        Expression value = expressions.ParseOperand("a field or method to order by, as in order by Name desc");
        OrderType type = lexer.TakeWord("as") ? ParseOrderType() : OrderType.Default;
        bool descending = lexer.IsWord("desc") || lexer.IsWord("descending");
        if (descending || lexer.IsWord("asc") || lexer.IsWord("ascending"))
            lexer.Next();

        bool? nullsFirst = null;
        if (lexer.TakeWord("nulls"))
        {
            nullsFirst = lexer.IsWord("first");
            if (nullsFirst == false && !lexer.IsWord("last"))
                throw lexer.Expected("'first' or 'last' after 'nulls'");
            lexer.Next();
        }

        return new OrderKey(value, type, descending, nullsFirst);
    }

    private OrderType ParseOrderType()
    {
        OrderType type = lexer.Current switch
        {
            _ when lexer.IsWord("string") => OrderType.String,
            _ when lexer.IsWord("long") => OrderType.Long,
            _ when lexer.IsWord("double") => OrderType.Double,
            _ when lexer.IsWord("alphanumeric") => OrderType.AlphaNumeric,
            _ => throw lexer.Expected("'string', 'long', 'double' or 'alphaNumeric' after 'as'"),
        };
        lexer.Next();
        return type;
    }

    public SelectClause ParseSelect()
    {
        int position = lexer.Next().Start;
        bool distinct = lexer.TakeWord("distinct");
        bool isBareDistinct = distinct && (lexer.Is(RqlTokenKind.End) || RqlKeywords.IsClauseStart(lexer.Current.Text));
        if (isBareDistinct || lexer.Take(RqlTokenKind.Star))
            return new SelectClause(position, distinct, Everything: true, null, []);
        if (lexer.Is(RqlTokenKind.OpenBrace))
            return new SelectClause(position, distinct, Everything: false, TakeScript(), []);

        var items = new List<AliasedExpression>();
        do
            items.Add(ParseSelectItem());
        while (lexer.Take(RqlTokenKind.Comma));

        return new SelectClause(position, distinct, Everything: false, null, items);
    }

    private AliasedExpression ParseSelectItem()
    {
        Expression value = IsTimeSeries()
            ? TakeTimeSeries()
            : expressions.ParseValueOrOperand("a field, a method or a value to select", QueryPlaces.Selected);
        return new AliasedExpression(value, lexer.TakeWord("as") ? ParseAlias() : null);
    }

    private bool IsTimeSeries()
    {
        if (!lexer.IsWord("timeseries") || lexer.Peek().Kind != RqlTokenKind.OpenParenthesis)
            return false;

        // timeseries(from …) has a grammar of its own; timeseries(name) calls a declared function.
        RqlToken word = lexer.Next();
        bool isOwnGrammar = RqlKeywords.Is(lexer.Peek().Text, "from");
        lexer.MoveTo(word.Start);
        return isOwnGrammar;
    }

    private TimeSeriesExpression TakeTimeSeries()
    {
        int start = lexer.Next().Start;
        lexer.Next();
        TimeSeriesExpression series = new TimeSeriesParser(lexer, expressions).Parse(start);
        lexer.Expect(RqlTokenKind.CloseParenthesis, "')' at the end of 'timeseries('");
        return series;
    }

    private string ParseAlias()
    {
        RqlToken alias = lexer.Current;
        if (alias.Kind is not (RqlTokenKind.Identifier or RqlTokenKind.String) || string.IsNullOrEmpty(alias.Text))
            throw lexer.Expected("a name after 'as'");

        lexer.Next();
        return alias.Text;
    }

    public IReadOnlyList<Expression> ParseIncludes()
    {
        var includes = new List<Expression>();
        do
            includes.Add(expressions.ParseValueOrOperand("a path or method to include"));
        while (lexer.Take(RqlTokenKind.Comma));

        return includes;
    }

    public ScriptBlock ParseUpdate()
    {
        lexer.Next();
        if (!lexer.Is(RqlTokenKind.OpenBrace))
            throw lexer.Expected("'{' and the script after 'update'");

        return TakeScript();
    }

    private ScriptBlock TakeScript()
    {
        int start = lexer.Current.Start;
        int end = ScriptScanner.FindEnd(lexer.Text, start);
        lexer.MoveTo(end);
        return new ScriptBlock(start, lexer.Text[start..end]);
    }

    /// <summary>
    /// Parses LIMIT take, LIMIT skip, take, OFFSET skip and FILTER_LIMIT n, each at most once and in any order.
    /// </summary>
    public RqlQuery ParsePaging(RqlQuery query)
    {
        while (true)
        {
            RqlToken word = lexer.Current;
            if (lexer.TakeWord("limit"))
                query = ParseLimit(query, word);
            else if (lexer.TakeWord("offset"))
                query = ParseOffset(query, word);
            else if (lexer.TakeWord("filter_limit"))
                query = query.FilterLimit is null
                    ? query with { FilterLimit = ParseCount("the number of candidates after 'filter_limit'") }
                    : throw lexer.Error(word.Start, "'filter_limit' is given twice.");
            else
                return query;
        }
    }

    private RqlQuery ParseLimit(RqlQuery query, RqlToken word)
    {
        if (query.Take is not null)
            throw lexer.Error(word.Start, "'limit' is given twice.");

        Expression first = ParseCount("a number or a parameter after 'limit'");
        if (!lexer.Take(RqlTokenKind.Comma))
            return query with { Take = first };
        if (query.Skip is not null)
            throw lexer.Error(word.Start, SkipTwice);

        return query with { Skip = first, Take = ParseCount("the number of results after 'limit skip,'") };
    }

    private RqlQuery ParseOffset(RqlQuery query, RqlToken word) =>
        query.Skip is null
            ? query with { Skip = ParseCount("a number or a parameter after 'offset', as in limit 5 offset 10") }
            : throw lexer.Error(word.Start, SkipTwice);

    private Expression ParseCount(string what) =>
        lexer.Current.Kind is RqlTokenKind.Number or RqlTokenKind.Parameter
            ? expressions.ParseValue(what)
            : throw lexer.Expected(what);

    private const string SkipTwice = "How many results to skip is said twice: 'limit skip, take' has it already.";
}
