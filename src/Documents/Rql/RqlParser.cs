using Treepie.Rql.Syntax;

namespace Treepie.Rql;

/// <summary>
/// The front door of this room: the text of a query becomes a syntax tree, or an error that names line, column and what was
/// expected. Knows nothing of documents, indexes or which clauses can be run; costs time linear in the text and is bounded in
/// length and depth.
/// </summary>
internal sealed class RqlParser
{
    /// <summary>Longest query in characters: room for some ten thousand values of an <c>in</c>; more belongs in a parameter.</summary>
    public const int MaxLength = 1024 * 1024;

    private readonly RqlLexer lexer;
    private readonly ExpressionParser expressions;
    private readonly SourceParser sources;
    private readonly OutputParser outputs;

    private RqlParser(string text)
    {
        lexer = new RqlLexer(text);
        expressions = new ExpressionParser(lexer);
        sources = new SourceParser(lexer, expressions);
        outputs = new OutputParser(lexer, expressions);
    }

    /// <summary>Parses a whole query.</summary>
    /// <exception cref="InvalidQueryException">It is not valid.</exception>
    public static RqlQuery Parse(string text)
    {
        if (text.Length > MaxLength)
            throw new InvalidQueryException($"The query is {text.Length:N0} characters long; the limit is {MaxLength:N0}. Give long lists as parameters.", 1, 1);

        return new RqlParser(text).ParseQuery();
    }

    private RqlQuery ParseQuery()
    {
        IReadOnlyList<Declaration> declarations = sources.ParseDeclarations();
        FromClause from = sources.ParseFrom();
        var query = new RqlQuery { Text = lexer.Text, Declarations = declarations, From = from };

        if (TakeTwoWords("group"))
            query = query with { GroupBy = outputs.ParseGroupKeys() };
        if (lexer.TakeWord("where"))
            query = query with { Where = expressions.ParseCondition() };
        if (TakeTwoWords("order"))
            query = query with { OrderBy = outputs.ParseOrderKeys() };
        if (lexer.TakeWord("load"))
            query = query with { Load = sources.ParseLoad() };
        if (lexer.TakeWord("filter"))
            query = query with { Filter = expressions.ParseCondition() };

        query = lexer.IsWord("update") ? query with { Update = outputs.ParseUpdate() } : ParseProjection(query);
        query = outputs.ParsePaging(query);
        if (lexer.IsWord("include"))
            query = ParseInclude(query);

        RequireEnd();
        return query;
    }

    private RqlQuery ParseProjection(RqlQuery query)
    {
        if (lexer.IsWord("select"))
            query = query with { Select = outputs.ParseSelect() };

        return lexer.IsWord("include") ? ParseInclude(query) : query;
    }

    private RqlQuery ParseInclude(RqlQuery query)
    {
        if (query.Update is not null)
            throw lexer.Error(lexer.Current.Start, "A query that updates has no 'include'.");
        if (query.Include.Count > 0)
            throw lexer.Error(lexer.Current.Start, "'include' is given twice: name all that is to be included in one clause, apart by ','.");

        lexer.Next();
        return query with { Include = outputs.ParseIncludes() };
    }

    private bool TakeTwoWords(string first)
    {
        if (!lexer.TakeWord(first))
            return false;
        if (!lexer.TakeWord("by"))
            throw lexer.Expected($"'by' after '{first}'");

        return true;
    }

    private void RequireEnd()
    {
        RqlToken token = lexer.Current;
        if (token.Kind == RqlTokenKind.End)
            return;
        if (token.Kind == RqlTokenKind.Identifier && RqlKeywords.IsClauseStart(token.Text))
            throw lexer.Error(token.Start, $"'{token.Text}' cannot stand here, or is given twice. {ClauseOrder}");

        throw lexer.Expected("the end of the query, or a clause");
    }

    private const string ClauseOrder =
        "Clauses stand in this order: declare, from, group by, where, order by, load, filter, select (or update), include, limit, offset, filter_limit.";
}
