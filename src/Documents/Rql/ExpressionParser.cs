using System.Globalization;
using Treepie.Rql.Syntax;

namespace Treepie.Rql;

/// <summary>
/// Parses conditions, values, paths and calls. AND binds tighter than OR; NOT is allowed only directly after AND or OR and
/// negates the next term. The depth is limited, so that no text can overflow the stack.
/// </summary>
internal sealed class ExpressionParser(RqlLexer lexer)
{
    /// <summary>The maximum nesting of parentheses and calls. A chain of ANDs or ORs is one level, however long.</summary>
    public const int MaxDepth = 128;

    private int _depth;

    /// <summary>Parses a condition.</summary>
    public Expression ParseCondition() => ParseOr(asArgument: false);

    /// <summary>Parses a path or a call.</summary>
    public Expression ParseOperand(string what, QueryPlaces place = QueryPlaces.Name)
    {
        if (!StartsOperand())
            throw lexer.Expected(what, place);

        PathExpression path = ParsePath();
        return lexer.Is(RqlTokenKind.OpenParenthesis) ? ParseCall(path) : path;
    }

    /// <summary>Parses a literal or a parameter. Returns null if there is neither.</summary>
    public Expression? TryParseValue()
    {
        RqlToken token = lexer.Current;
        Expression? value = token.Kind switch
        {
            RqlTokenKind.String => new LiteralExpression(token.Start, LiteralKind.String, token.Text ?? ""),
            RqlTokenKind.Number => new LiteralExpression(token.Start, LiteralKind.Number, token.Text ?? ""),
            RqlTokenKind.Parameter => new ParameterExpression(token.Start, token.Text ?? ""),
            RqlTokenKind.Identifier
                when lexer.Peek().Kind is not (RqlTokenKind.Dot or RqlTokenKind.OpenBracket or RqlTokenKind.OpenParenthesis) =>
                TryConstant(token),
            _ => null,
        };
        if (value is not null)
            lexer.Next();

        return value;
    }

    public Expression ParseValue(string what) => TryParseValue() ?? throw lexer.Expected(what, QueryPlaces.Value);

    /// <summary>Parses a value, path or call of SELECT, GROUP BY or INCLUDE, where a string is a value.</summary>
    public Expression ParseValueOrOperand(string what, QueryPlaces place = QueryPlaces.Name)
    {
        bool isQuotedPath = lexer.Is(RqlTokenKind.String) && lexer.Peek().Kind is RqlTokenKind.Dot or RqlTokenKind.OpenBracket;
        return (isQuotedPath ? null : TryParseValue()) ?? ParseOperand(what, place);
    }

    public PathExpression ParsePath()
    {
        RqlToken first = lexer.Current;
        if (first.Kind == RqlTokenKind.Identifier && RqlKeywords.IsReserved(first.Text))
            throw lexer.Error(
                first.Start,
                $"'{first.Text}' is a word of the language: a field of that name is written in quotes, '{first.Text}'.");

        var segments = new List<PathSegment> { ParseSegment("the name of a field") };
        while (lexer.Take(RqlTokenKind.Dot))
            segments.Add(ParseSegment("the name of a member after '.'"));

        return new PathExpression(first.Start, segments);
    }

    private PathSegment ParseSegment(string what)
    {
        RqlToken token = lexer.Current;
        if (token.Kind is not (RqlTokenKind.Identifier or RqlTokenKind.String))
            throw lexer.Expected(what, QueryPlaces.Member);

        lexer.Next();
        if (string.IsNullOrEmpty(token.Text))
            throw lexer.Error(token.Start, "The name of a field is empty.");

        List<int>? elements = null;
        while (lexer.Take(RqlTokenKind.OpenBracket))
            (elements ??= []).Add(ParseElement());

        return new PathSegment(token.Text, elements ?? (IReadOnlyList<int>)[], token.Kind == RqlTokenKind.String);
    }

    private int ParseElement()
    {
        if (lexer.Take(RqlTokenKind.CloseBracket))
            return PathSegment.AllElements;

        RqlToken number = lexer.Expect(
            RqlTokenKind.Number, "']' or the index of an element", QueryPlaces.Member);
        if (!int.TryParse(number.Text, NumberStyles.None, CultureInfo.InvariantCulture, out int element))
            throw lexer.Error(number.Start, "The index of an element is a whole number from 0.");

        lexer.Expect(RqlTokenKind.CloseBracket, "']'");
        return element;
    }

    private Expression ParseOr(bool asArgument)
    {
        int position = lexer.Current.Start;
        Expression first = ParseAnd(asArgument, negated: false);
        if (!lexer.IsWord("or"))
            return first;

        RequireCondition(first);
        var clauses = new List<Expression> { first };
        while (lexer.TakeWord("or"))
            clauses.Add(ParseAnd(asArgument: false, lexer.TakeWord("not")));

        return new OrExpression(position, clauses);
    }

    private Expression ParseAnd(bool asArgument, bool negated)
    {
        int position = lexer.Current.Start;
        Expression first = Negate(ParseTerm(asArgument), negated);
        if (!lexer.IsWord("and"))
            return first;

        RequireCondition(first);
        var clauses = new List<Expression> { first };
        while (lexer.TakeWord("and"))
        {
            bool isNegated = lexer.TakeWord("not");
            clauses.Add(Negate(ParseTerm(asArgument: false), isNegated));
        }

        return new AndExpression(position, clauses);
    }

    private static Expression Negate(Expression clause, bool negated) =>
        negated ? new NotExpression(clause.Position, clause) : clause;

    private Expression ParseTerm(bool asArgument)
    {
        RqlToken token = lexer.Current;
        if (token.Kind == RqlTokenKind.OpenParenthesis)
        {
            Enter();
            lexer.Next();
            Expression inner = ParseOr(asArgument: false);
            lexer.Expect(RqlTokenKind.CloseParenthesis, "')', 'and' or 'or'");
            _depth--;
            return inner;
        }

        if (lexer.IsWord("not"))
            throw lexer.Error(token.Start, "A condition cannot begin with 'not': write 'true and not …'.");

        RefuseSwappedSides(token);
        bool comparedString = token.Kind == RqlTokenKind.String && !StartsArgumentEnd(lexer.Peek());
        if (asArgument && !comparedString && TryParseValue() is { } value)
            return value;
        if (!asArgument
            && TryConstant(token) is LiteralExpression { Kind: LiteralKind.True } always
            && !StartsCompare(lexer.Peek()))
        {
            lexer.Next();
            return always;
        }

        Expression operand = ParseOperand(
            "a condition: a field with a comparison, a method, or '('", asArgument ? QueryPlaces.Argument : QueryPlaces.Name);
        Expression? condition = TryParseComparison(operand, token);
        if (condition is not null)
            return condition;
        if (!asArgument && operand is PathExpression)
            throw lexer.Expected(
                $"a comparison (=, !=, <, <=, >, >=, between, in, all in) after '{operand}'", QueryPlaces.Operator);

        return operand;
    }

    /// <summary>Rejects a comparison with the value on the left and the field on the right.</summary>
    private void RefuseSwappedSides(RqlToken value)
    {
        bool isValue = value.Kind is RqlTokenKind.Number or RqlTokenKind.Parameter || TryConstant(value) is not null;
        if (!isValue || Operator(lexer.Peek().Kind) is null)
            return;

        lexer.Next();
        RqlToken comparison = lexer.Next();
        if (lexer.Is(RqlTokenKind.Identifier) && TryConstant(lexer.Current) is null)
            throw RqlAdvice.Swapped(lexer, value, comparison, ParseOperand("a field"));

        lexer.MoveTo(value.Start);
    }

    /// <param name="operand">The left operand.</param>
    /// <param name="quoted">Its first token: the string with its name, if the name is quoted.</param>
    private Expression? TryParseComparison(Expression operand, RqlToken quoted)
    {
        RqlToken token = lexer.Current;
        if (Operator(token.Kind) is { } comparison)
        {
            lexer.Next();
            Expression right = TryParseValue() ?? ParseOperand(
                $"a value after '{lexer.Text[token.Start..token.End]}'", QueryPlaces.Value);
            if (right is PathExpression && operand is PathExpression { Segments: [{ Quoted: true, Elements.Count: 0 }] })
                throw RqlAdvice.Swapped(lexer, quoted, token, right);
            return new CompareExpression(token.Start, comparison, operand, right);
        }

        if (lexer.TakeWord("between"))
        {
            Expression low = ParseValue("the lower value after 'between', as in between 1 and 2");
            if (!lexer.TakeWord("and"))
                throw lexer.Expected("'and' and the upper value of 'between', as in between 1 and 2");

            Expression high = ParseValue("the upper value of 'between', as in between 1 and 2");
            RequireOneKind([low, high], "between");
            return new BetweenExpression(token.Start, operand, low, high);
        }

        bool all = lexer.IsWord("all") && RqlKeywords.Is(lexer.Peek().Text, "in");
        if (all)
            lexer.Next();
        if (lexer.TakeWord("in"))
            return ParseIn(token.Start, operand, all);

        return RqlAdvice.ForeignOperator(lexer, operand) is { } refusal ? throw refusal : null;
    }

    private InExpression ParseIn(int position, Expression operand, bool all)
    {
        if (!lexer.Is(RqlTokenKind.OpenParenthesis))
            throw RqlAdvice.NoList(lexer, operand, position);

        lexer.Next();
        var values = new List<Expression>();
        if (!lexer.Is(RqlTokenKind.CloseParenthesis))
        {
            do
                values.Add(ParseValue("a value"));
            while (lexer.Take(RqlTokenKind.Comma));
        }

        lexer.Expect(RqlTokenKind.CloseParenthesis, "',' or ')'");
        RequireOneKind(values, "in");
        return new InExpression(position, operand, values, all);
    }

    private MethodExpression ParseCall(PathExpression name)
    {
        if (name.Segments.Any(s => s.Quoted || s.Elements.Count > 0))
            throw lexer.Error(name.Position, $"'{name}' cannot be called: the name of a method has no quotes and no brackets.");

        Enter();
        lexer.Next();
        if (RqlKeywords.Is(name.Segments[0].Name, "timeseries") && lexer.IsWord("from"))
            throw lexer.Error(
                name.Position,
                "A time series gives entries and no value to compare or to sort by: declare it, and a function that takes one "
                    + "of them: declare timeseries prices(c) { from c.Prices select last() } declare function last(c) { return "
                    + "prices(c).Results[0]?.Last[0]; } from Companies as c order by last(c).");
        var arguments = new List<MethodArgument>();
        bool isNamed = RqlKeywords.Is(name.Segments[0].Name, "any") || RqlKeywords.Is(name.Segments[0].Name, "count");
        if (!lexer.Is(RqlTokenKind.CloseParenthesis))
        {
            do
                arguments.Add(ParseArgument(isNamed: isNamed && arguments.Count == 0));
            while (lexer.Take(RqlTokenKind.Comma));
        }

        lexer.Expect(RqlTokenKind.CloseParenthesis, $"',' or ')' in '{name}(…)'", QueryPlaces.Closing);
        _depth--;
        return new MethodExpression(name.Position, name.ToString(), arguments);
    }

    /// <param name="isNamed">Whether a path may have an alias, as a call may.</param>
    private MethodArgument ParseArgument(bool isNamed)
    {
        // search(F, 'a b', and): the operator is a bare word.
        if ((lexer.IsWord("and") || lexer.IsWord("or")) && StartsArgumentEnd(lexer.Peek()))
        {
            RqlToken word = lexer.Next();
            return new MethodArgument(
                new PathExpression(word.Start, [new PathSegment(word.Text ?? "", [], Quoted: false)]), null);
        }

        if (lexer.IsWord("select"))
            throw lexer.Expected("an argument", QueryPlaces.Value);
        Expression value = ParseOr(asArgument: true);
        string? alias = null;
        if ((value is MethodExpression || (isNamed && value is PathExpression)) && lexer.TakeWord("as"))
            alias = lexer.Expect(RqlTokenKind.Identifier, "a name after 'as'").Text;

        return new MethodArgument(value, alias);
    }

    private void Enter()
    {
        if (++_depth > MaxDepth)
            throw lexer.Error(
                lexer.Current.Start, $"The query is too complex: more than {MaxDepth} clauses are nested in one another.");
    }

    private void RequireCondition(Expression clause)
    {
        if (clause is PathExpression or LiteralExpression { Kind: not LiteralKind.True } or ParameterExpression)
            throw lexer.Error(clause.Position, "Expected a condition, but found a value alone.");
    }

    private void RequireOneKind(IReadOnlyList<Expression> values, string where)
    {
        LiteralExpression? first = null;
        foreach (Expression value in values)
        {
            // Parameters are checked when they are bound; null goes with any kind.
            if (value is not LiteralExpression { Kind: not LiteralKind.Null } literal)
                continue;

            first ??= literal;
            if (KindName(first.Kind) != KindName(literal.Kind))
                throw lexer.Error(
                    literal.Position,
                    $"The values of '{where}' must be of one kind: found {KindName(first.Kind)} and {KindName(literal.Kind)}.");
        }
    }

    private static string KindName(LiteralKind kind) => kind switch
    {
        LiteralKind.String => "a string",
        LiteralKind.Number => "a number",
        LiteralKind.Null => "null",
        _ => "a boolean",
    };

    private bool StartsOperand() => lexer.Current.Kind is RqlTokenKind.Identifier or RqlTokenKind.String;

    private static bool StartsArgumentEnd(RqlToken token) => token.Kind is RqlTokenKind.Comma or RqlTokenKind.CloseParenthesis;

    private static bool StartsCompare(RqlToken token) =>
        Operator(token.Kind) is not null || RqlKeywords.Is(token.Text, "between") || RqlKeywords.Is(token.Text, "in");

    private static LiteralExpression? TryConstant(RqlToken token)
    {
        if (token.Kind != RqlTokenKind.Identifier)
            return null;
        if (RqlKeywords.Is(token.Text, "true"))
            return new LiteralExpression(token.Start, LiteralKind.True, "true");
        if (RqlKeywords.Is(token.Text, "false"))
            return new LiteralExpression(token.Start, LiteralKind.False, "false");

        return RqlKeywords.Is(token.Text, "null") ? new LiteralExpression(token.Start, LiteralKind.Null, "null") : null;
    }

    private static CompareOperator? Operator(RqlTokenKind kind) => kind switch
    {
        RqlTokenKind.Equal => CompareOperator.Equal,
        RqlTokenKind.NotEqual => CompareOperator.NotEqual,
        RqlTokenKind.Less => CompareOperator.Less,
        RqlTokenKind.LessOrEqual => CompareOperator.LessOrEqual,
        RqlTokenKind.Greater => CompareOperator.Greater,
        RqlTokenKind.GreaterOrEqual => CompareOperator.GreaterOrEqual,
        _ => null,
    };
}
