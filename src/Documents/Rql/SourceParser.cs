using Treepie.Rql.Syntax;

namespace Treepie.Rql;

/// <summary>Parses the clauses for the input: DECLARE, FROM, LOAD.</summary>
internal sealed class SourceParser(RqlLexer lexer, ExpressionParser expressions)
{
    public IReadOnlyList<Declaration> ParseDeclarations()
    {
        var declarations = new List<Declaration>();
        while (lexer.TakeWord("declare"))
        {
            Declaration declaration = ParseDeclaration();
            if (declarations.Any(d => d.Name == declaration.Name))
                throw lexer.Error(declaration.Position, $"'{declaration.Name}' is declared twice.");

            declarations.Add(declaration);
        }

        return declarations;
    }

    private Declaration ParseDeclaration()
    {
        bool isTimeSeries = lexer.IsWord("timeseries");
        if (!isTimeSeries && !lexer.IsWord("function"))
            throw lexer.Expected("'function' or 'timeseries' after 'declare'");

        lexer.Next();
        RqlToken name = lexer.Expect(RqlTokenKind.Identifier, "the name of what is declared");
        string parameters = TakeRaw(RqlTokenKind.OpenParenthesis, "'(' and the parameters");
        if (isTimeSeries)
        {
            int start = lexer.Expect(RqlTokenKind.OpenBrace, "'{' and the time series").Start;
            TimeSeriesExpression series = new TimeSeriesParser(lexer, expressions).Parse(start);
            int end = lexer.Expect(RqlTokenKind.CloseBrace, "'}' at the end of the time series").End;
            return new Declaration(name.Start, isTimeSeries, name.Text ?? "", parameters, lexer.Text[start..end], series);
        }

        string body = TakeRaw(RqlTokenKind.OpenBrace, "'{' and the body");
        return new Declaration(name.Start, isTimeSeries, name.Text ?? "", parameters, body);
    }

    private string TakeRaw(RqlTokenKind opening, string what)
    {
        if (!lexer.Is(opening))
            throw lexer.Expected(what);

        int start = lexer.Current.Start;
        int end = ScriptScanner.FindEnd(lexer.Text, start);
        lexer.MoveTo(end);
        return lexer.Text[start..end];
    }

    public FromClause ParseFrom()
    {
        if (!lexer.TakeWord("from"))
            throw lexer.Expected(
                "'from' (a query begins with the collection or index it asks: from Users where …)", QueryPlaces.Beginning);

        bool isIndex = lexer.IsWord("index") && IsName(lexer.Peek());
        if (isIndex)
            lexer.Next();

        RqlToken name = lexer.Current;
        if (name.Kind is not (RqlTokenKind.Identifier or RqlTokenKind.String) || string.IsNullOrEmpty(name.Text))
            throw lexer.Expected(isIndex ? "the name of an index" : "the name of a collection", QueryPlaces.Name);
        if (name.Kind == RqlTokenKind.Identifier && RqlKeywords.IsReserved(name.Text))
            throw lexer.Error(
                name.Start,
                $"'{name.Text}' is a word of the language: a collection of that name is written in quotes, '{name.Text}'.");

        lexer.Next();
        Expression? preFilter = null;
        if (!isIndex && lexer.Take(RqlTokenKind.OpenParenthesis))
        {
            preFilter = expressions.ParseCondition();
            lexer.Expect(RqlTokenKind.CloseParenthesis, "')'");
        }

        return new FromClause(name.Start, isIndex, name.Text, preFilter, ParseAlias());
    }

    private static bool IsName(RqlToken token) =>
        token.Kind == RqlTokenKind.String
        || (token.Kind == RqlTokenKind.Identifier
            && !RqlKeywords.IsClauseStart(token.Text)
            && !RqlKeywords.IsReserved(token.Text));

    private string? ParseAlias()
    {
        if (lexer.TakeWord("as"))
            return ExpectName("a name after 'as'");
        if (lexer.Is(RqlTokenKind.String))
            return lexer.Next().Text;
        if (!lexer.Is(RqlTokenKind.Identifier))
            return null;

        // 'from Users filter …' filters; 'from Users filter where …' defines the alias 'filter'.
        string? word = lexer.Current.Text;
        bool isFilterAlias = RqlKeywords.Is(word, "filter")
            && RqlKeywords.IsReserved(lexer.Peek().Text)
            && lexer.Peek().Kind == RqlTokenKind.Identifier;
        if (RqlKeywords.IsClauseStart(word) && !isFilterAlias)
            return null;

        return lexer.Next().Text;
    }

    public IReadOnlyList<LoadItem> ParseLoad()
    {
        var items = new List<LoadItem>();
        do
        {
            Expression source = lexer.Is(RqlTokenKind.Parameter)
                ? expressions.ParseValue("a parameter")
                : expressions.ParseOperand("the path of the id to load");
            if (!lexer.TakeWord("as"))
                throw lexer.Expected("'as' and a name for what is loaded");

            string alias = ExpectName("a name after 'as'");
            bool many = lexer.Take(RqlTokenKind.OpenBracket);
            if (many)
                lexer.Expect(RqlTokenKind.CloseBracket, "']'");
            items.Add(new LoadItem(source, alias, many));
        }
        while (lexer.Take(RqlTokenKind.Comma));

        return items;
    }

    private string ExpectName(string what)
    {
        RqlToken name = lexer.Current;
        bool isReserved = name.Kind == RqlTokenKind.Identifier && RqlKeywords.IsReserved(name.Text);
        if (isReserved || name.Kind is not (RqlTokenKind.Identifier or RqlTokenKind.String) || string.IsNullOrEmpty(name.Text))
            throw lexer.Expected(what);

        lexer.Next();
        return name.Text;
    }
}
