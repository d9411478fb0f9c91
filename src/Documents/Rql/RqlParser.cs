using Treepie.Rql.Syntax;

namespace Treepie.Rql;

/// <summary>
/// The entry point of this folder: parses the text of a query to a syntax tree, or throws an error with line, column and what was
/// expected. Does not know about documents, indexes, or which clauses are supported. Takes time linear in the text; length and
/// depth are limited.
/// </summary>
internal sealed class RqlParser
{
    /// <summary>
    /// The maximum length of a query, in characters: enough for about ten thousand values of an <c>in</c>. Longer lists belong in
    /// a parameter.
    /// </summary>
    public const int MaxLength = 1024 * 1024;

    private readonly RqlLexer _lexer;
    private readonly ExpressionParser _expressions;
    private readonly SourceParser _sources;
    private readonly OutputParser _outputs;

    private RqlParser(string text)
    {
        _lexer = new RqlLexer(text);
        _expressions = new ExpressionParser(_lexer);
        _sources = new SourceParser(_lexer, _expressions);
        _outputs = new OutputParser(_lexer, _expressions);
    }

    /// <summary>Parses a whole query.</summary>
    /// <exception cref="InvalidQueryException">The query is not valid.</exception>
    public static RqlQuery Parse(string text)
    {
        if (text.Length > MaxLength)
            throw new InvalidQueryException(
                $"The query is {text.Length:N0} characters long; the limit is {MaxLength:N0}. Give long lists as parameters.", 1,
                1);

        return new RqlParser(text).ParseQuery();
    }

    private RqlQuery ParseQuery()
    {
        IReadOnlyList<Declaration> declarations = _sources.ParseDeclarations();
        FromClause from = _sources.ParseFrom();
        var source = new RqlQuery { Text = _lexer.Text, Declarations = declarations, From = from };
        RqlQuery query = source;

        if (TakeTwoWords("group"))
            query = query with { GroupBy = _outputs.ParseGroupKeys() };
        if (_lexer.TakeWord("where"))
            query = query with { Where = _expressions.ParseCondition() };
        if (TakeTwoWords("order"))
            query = query with { OrderBy = _outputs.ParseOrderKeys() };
        if (_lexer.TakeWord("load"))
            query = query with { Load = _sources.ParseLoad() };
        if (_lexer.TakeWord("filter"))
            query = query with { Filter = _expressions.ParseCondition() };

        query = _lexer.IsWord("update") ? query with { Update = _outputs.ParseUpdate() } : ParseProjection(query);
        query = _outputs.ParsePaging(query);
        if (_lexer.IsWord("include"))
            query = ParseInclude(query);

        RequireEnd(query, isSourceOnly: ReferenceEquals(query, source));
        return query;
    }

    private RqlQuery ParseProjection(RqlQuery query)
    {
        if (_lexer.IsWord("select"))
            query = query with { Select = _outputs.ParseSelect() };

        return _lexer.IsWord("include") ? ParseInclude(query) : query;
    }

    private RqlQuery ParseInclude(RqlQuery query)
    {
        if (query.Update is not null)
            throw _lexer.Error(_lexer.Current.Start, "A query that updates has no 'include'.");
        if (query.Include.Count > 0)
            throw _lexer.Error(
                _lexer.Current.Start, "'include' is given twice: name all that is to be included in one clause, apart by ','.");

        _lexer.Next();
        return query with { Include = _outputs.ParseIncludes() };
    }

    private bool TakeTwoWords(string first)
    {
        if (!_lexer.TakeWord(first))
            return false;
        if (!_lexer.TakeWord("by"))
            throw _lexer.Expected($"'by' after '{first}'");

        return true;
    }

    private void RequireEnd(RqlQuery query, bool isSourceOnly)
    {
        RqlToken token = _lexer.Current;
        if (token.Kind == RqlTokenKind.End)
            return;
        if (token.Kind == RqlTokenKind.Identifier && RqlKeywords.IsClauseStart(token.Text))
        {
            bool isSecondCondition = (RqlKeywords.Is(token.Text, "where") && query.Where is not null)
                || (RqlKeywords.Is(token.Text, "filter") && query.Filter is not null);
            throw _lexer.Error(
                token.Start,
                $"'{token.Text}' cannot stand here, or is given twice. "
                    + (isSecondCondition ? "Conditions are joined by 'and' or 'or'. " : "")
                    + ClauseOrder);
        }

        bool isAfterCondition = query is { OrderBy.Count: 0, Load.Count: 0, Select: null, Update: null, Include.Count: 0 }
            && query is { Take: null, Skip: null, FilterLimit: null }
            && (query.Where ?? query.Filter) is not null;
        throw _lexer.Expected(
            isAfterCondition ? "'and', 'or', a clause, or the end of the query" : "the end of the query, or a clause",
            isSourceOnly ? QueryPlaces.Source | QueryPlaces.Clause : QueryPlaces.Clause);
    }

    private const string ClauseOrder =
        "Clauses stand in this order: declare, from, group by, where, order by, load, filter, select (or update), include, "
            + "limit, offset, filter_limit.";
}
