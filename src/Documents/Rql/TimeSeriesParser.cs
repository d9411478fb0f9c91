using Treepie.Rql.Syntax;

namespace Treepie.Rql;

/// <summary>Parses the contents of <c>timeseries(…)</c> and <c>declare timeseries</c>.</summary>
internal sealed class TimeSeriesParser(RqlLexer lexer, ExpressionParser expressions)
{
    /// <summary>Parses from FROM up to the closing bracket, without consuming the bracket.</summary>
    public TimeSeriesExpression Parse(int position)
    {
        lexer.AllowsUnits = true;
        try
        {
            return ParseClauses(position);
        }
        finally
        {
            lexer.AllowsUnits = false;
        }
    }

    private TimeSeriesExpression ParseClauses(int position)
    {
        if (!lexer.TakeWord("from"))
            throw lexer.Expected("'from' and the name of a time series");
        var series = new TimeSeriesExpression(
            position, expressions.ParseValueOrOperand("the name of a time series, or alias.Name"));
        series = ParseRange(series);
        if (lexer.TakeWord("load"))
            series = series with { TagAlias = ParseTagAlias() };
        if (lexer.TakeWord("where"))
            series = series with { Where = expressions.ParseCondition() };
        if (lexer.TakeWord("group"))
            series = ParseGroups(series);
        if (lexer.TakeWord("select"))
            series = series with { Items = ParseItems() };
        while (lexer.IsWord("scale") || lexer.IsWord("offset"))
        {
            bool isScale = lexer.IsWord("scale");
            lexer.Next();
            Expression value = expressions.ParseValue(isScale ? "a number after 'scale'" : "a time span after 'offset'");
            series = isScale ? series with { Scale = value } : series with { Offset = value };
        }

        return series;
    }

    private TimeSeriesExpression ParseRange(TimeSeriesExpression series)
    {
        if (lexer.TakeWord("between"))
        {
            Expression from = expressions.ParseValue("the first moment after 'between'");
            if (!lexer.TakeWord("and"))
                throw lexer.Expected("'and' and the last moment of 'between'");
            series = series with { From = from, To = expressions.ParseValue("the last moment of 'between'") };
        }
        else if (lexer.TakeWord("first"))
        {
            series = series with { First = ParsePeriod("'first'") };
        }
        else if (lexer.TakeWord("last"))
        {
            series = series with { Last = ParsePeriod("'last'") };
        }

        return lexer.IsWord("between") || lexer.IsWord("first") || lexer.IsWord("last")
            ? throw lexer.Error(lexer.Current.Start, "Only one of 'between', 'first' and 'last' says which entries are wanted.")
            : series;
    }

    private string ParseTagAlias()
    {
        if (!lexer.TakeWord("tag") || !lexer.TakeWord("as"))
            throw lexer.Expected("'Tag as' and a name: load Tag as source");
        return lexer.Expect(RqlTokenKind.Identifier, "a name after 'as'").Text ?? "";
    }

    private TimeSeriesExpression ParseGroups(TimeSeriesExpression series)
    {
        if (!lexer.TakeWord("by"))
            throw lexer.Expected("'by' after 'group'");
        if (lexer.IsWord("tag"))
            return series with { Key = expressions.ParsePath() };
        series = series with { Period = ParsePeriod("'group by'") };
        if (lexer.Take(RqlTokenKind.Comma))
            series = series with { Key = expressions.ParsePath() };
        return lexer.TakeWord("with") ? series with { Fill = ParseFill() } : series;
    }

    private TimeSeriesFill ParseFill()
    {
        if (!lexer.TakeWord("interpolation") || !lexer.Take(RqlTokenKind.OpenParenthesis))
            throw lexer.Expected("'interpolation(linear)' or 'interpolation(nearest)'");
        TimeSeriesFill fill = lexer.IsWord("linear") ? TimeSeriesFill.Linear
            : lexer.IsWord("nearest") ? TimeSeriesFill.Nearest
            : throw lexer.Expected("'linear' or 'nearest'");
        lexer.Next();
        lexer.Expect(RqlTokenKind.CloseParenthesis, "')'");
        return fill;
    }

    private List<AliasedExpression> ParseItems()
    {
        var items = new List<AliasedExpression>();
        do
        {
            Expression item = expressions.ParseOperand("min(), max(), avg(), sum(), count() or the like");
            items.Add(
                new AliasedExpression(
                    item, lexer.TakeWord("as") ? lexer.Expect(RqlTokenKind.Identifier, "a name after 'as'").Text : null));
        }
        while (lexer.Take(RqlTokenKind.Comma));
        return items;
    }

    /// <summary>Parses a period: <c>'1 hour'</c>, <c>1 hour</c>, <c>1h</c>, or a parameter.</summary>
    private Expression ParsePeriod(string clause)
    {
        RqlToken token = lexer.Current;
        if (token.Kind != RqlTokenKind.Number)
            return expressions.ParseValue($"a length after {clause}, such as '1 hour'");
        lexer.Next();
        string unit = lexer.Expect(RqlTokenKind.Identifier, "a unit, such as hours").Text ?? "";
        return new LiteralExpression(token.Start, LiteralKind.String, $"{token.Text} {unit}");
    }
}
