using Treepie.Indexes.Definitions;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Queries.Filters;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Binds WHERE to an index query. Comparisons ignore case unless inside <c>exact()</c>; null also matches missing values;
/// booleans have no ranges, and nothing is less or greater than null.
/// </summary>
/// <param name="query">The query.</param>
/// <param name="parameters">Its parameter values.</param>
/// <param name="fields">Its fields.</param>
/// <param name="loadDocument">Returns the body of a document that a condition refers to, or null if it does not
/// exist.</param>
internal sealed class ConditionBinder(
    RqlQuery query, QueryParameters parameters, FieldBinder fields, Func<string, byte[]?> loadDocument)
{
    /// <summary>The maximum number of conditions in a query: each takes a few kilobytes while it runs.</summary>
    public const int MaxConditions = 16 * 1024;

    /// <summary>The maximum distance of <c>proximity()</c>.</summary>
    public const int MaxDistance = 1_000_000;

    private int _count;

    private bool _isScored;
    private TextMethodBinder? _textMethods;

    /// <summary>Whether some part of the condition produces scores.</summary>
    public bool IsScored => _isScored || _textMethods is { IsScored: true };

    private TextMethodBinder TextMethods => _textMethods ??= new TextMethodBinder(query, parameters, fields, loadDocument, Bind);

    public IndexQuery Bind(Expression expression) => Bind(expression, AutoIndexFieldKind.Value);

    private IndexQuery Bind(Expression expression, AutoIndexFieldKind kind)
    {
        bool isCondition = expression is not (AndExpression or OrExpression or NotExpression); // these only join conditions
        if (isCondition && ++_count > MaxConditions)
            throw RqlErrors.At(
                query.Text, expression.Position,
                $"The query is too complex: it has more than {MaxConditions:N0} conditions. Long lists of values go with 'in'.");

        return expression switch
        {
            LiteralExpression { Kind: LiteralKind.True } => new MatchAllQuery(),
            AndExpression and => new AndQuery([.. and.Clauses.Select(c => Bind(c, kind))]),
            OrExpression or => BindOr(or, kind),
            NotExpression not => new NotQuery(Bind(not.Clause, kind)),
            CompareExpression compare => BindCompare(compare, kind),
            BetweenExpression between => BindBetween(between, kind),
            InExpression list => BindIn(list, kind),
            MethodExpression method => BindMethod(method, kind),
            _ => throw RqlErrors.At(query.Text, expression.Position, "Expected a condition."),
        };
    }

    /// <summary>Merges a = 1 or a = 2 or a = 3 … into one list of values.</summary>
    private IndexQuery BindOr(OrExpression or, AutoIndexFieldKind kind)
    {
        var clauses = new List<IndexQuery>();
        var lists = new Dictionary<string, List<FieldValue>>(StringComparer.Ordinal);
        foreach (Expression clause in or.Clauses)
        {
            IndexQuery bound = Bind(clause, kind);
            if (bound is not TermQuery term)
            {
                clauses.Add(bound);
            }
            else if (lists.TryGetValue(term.Field, out List<FieldValue>? values))
            {
                values.Add(term.Value);
            }
            else
            {
                lists.Add(term.Field, [term.Value]);
            }
        }

        clauses.AddRange(
            lists.Select(
                l => l.Value is [FieldValue only] ? (IndexQuery)new TermQuery(l.Key, only) : new InQuery(l.Key, l.Value)));
        return clauses is [{ } single] ? single : new OrQuery(clauses);
    }

    private IndexQuery BindCompare(CompareExpression compare, AutoIndexFieldKind kind)
    {
        FieldValue value = parameters.Value(compare.Right);
        if (fields.IsKey(compare.Left) && compare.Operator is CompareOperator.Equal or CompareOperator.NotEqual)
            return compare.Operator == CompareOperator.Equal ? ByKey([value]) : new NotQuery(ByKey([value]));
        if (fields.IsKey(compare.Left))
            return BindKeyRange(compare, value);
        string field =
            (value.Kind == FieldValueKind.Null
                ? fields.Existing(compare.Left, kind)
                : fields.Field(compare.Left, kind)).SchemaName;
        kind = KindOf(compare.Left, kind);
        switch (compare.Operator)
        {
            case CompareOperator.Equal:
                return Equal(field, value, kind);
            case CompareOperator.NotEqual:
                return new NotQuery(Equal(field, value, kind));
        }

        RequireOrder(value, compare.Right);
        return value.Kind == FieldValueKind.Null ? new MatchNoneQuery() : compare.Operator switch
        {
            CompareOperator.Less => new RangeQuery(field, null, false, TimeText.First(value, kind), false),
            CompareOperator.LessOrEqual => new RangeQuery(field, null, false, TimeText.Last(value, kind), true),
            CompareOperator.Greater => new RangeQuery(field, TimeText.Last(value, kind), false, null, false),
            _ => new RangeQuery(field, TimeText.First(value, kind), true, null, false),
        };
    }

    private static AutoIndexFieldKind KindOf(Expression operand, AutoIndexFieldKind kind) =>
        UtcTexts.Is(operand) ? AutoIndexFieldKind.Utc : kind;

    /// <summary>
    /// Matches documents by the order of their ids, ignoring case. Groups have no ids, and no id is less or greater than what is
    /// no text.
    /// </summary>
    private IndexQuery BindKeyRange(CompareExpression compare, FieldValue value)
    {
        RequireOrder(value, compare.Right);
        if (value is not { Kind: FieldValueKind.Text, Text: { } text } || fields.HasNoIds)
            return new MatchNoneQuery();
        string id = TextMethodBinder.Bound(text);
        return compare.Operator switch
        {
            CompareOperator.Less => new KeyRangeQuery(null, false, id, false),
            CompareOperator.LessOrEqual => new KeyRangeQuery(null, false, id, true),
            CompareOperator.Greater => new KeyRangeQuery(id, false, null, false),
            _ => new KeyRangeQuery(id, true, null, false),
        };
    }

    /// <summary>A UTC time may be stored with or without a trailing <c>Z</c>; matches both forms.</summary>
    private static IndexQuery Equal(string field, FieldValue value, AutoIndexFieldKind kind) =>
        TimeText.Is(value, kind)
            ? new InQuery(field, [TimeText.First(value, kind), TimeText.Last(value, kind)])
            : new TermQuery(field, value);

    private IndexQuery BindBetween(BetweenExpression between, AutoIndexFieldKind kind)
    {
        bool isKey = fields.IsKey(between.Operand);
        string field = isKey ? "" : fields.Field(between.Operand, kind).SchemaName;
        kind = KindOf(between.Operand, kind);
        FieldValue low = parameters.Value(between.Low);
        FieldValue high = parameters.Value(between.High);
        RequireOrder(low, between.Low);
        RequireOrder(high, between.High);
        if (low.Kind == FieldValueKind.Null || high.Kind == FieldValueKind.Null)
            return new MatchNoneQuery();
        if ((low.Kind == FieldValueKind.Text) != (high.Kind == FieldValueKind.Text))
        {
            if (isKey)
                return new MatchNoneQuery();
            // Clients write an unbounded end of a range this way.
            if (low is { Kind: FieldValueKind.Text, Text: "*" })
                return new RangeQuery(field, null, false, high, true);
            if (high is { Kind: FieldValueKind.Text, Text: "NULL" })
                return new RangeQuery(field, low, true, null, false);
            throw RqlErrors.At(
                query.Text, between.Position, "The values of 'between' must be of one kind: two numbers or two strings.");
        }

        if (isKey)
            return low.Text is { } first && high.Text is { } last && !fields.HasNoIds
                ? new KeyRangeQuery(TextMethodBinder.Bound(first), true, TextMethodBinder.Bound(last), true)
                : new MatchNoneQuery();
        return new RangeQuery(field, TimeText.First(low, kind), true, TimeText.Last(high, kind), true);
    }

    private IndexQuery BindIn(InExpression list, AutoIndexFieldKind kind)
    {
        List<FieldValue> values = parameters.Values(list.Values);
        if (fields.IsKey(list.Operand))
            return list.All ? new AndQuery([.. values.Select(value => ByKey([value]))]) : ByKey(values);
        string field = fields.Field(list.Operand, kind).SchemaName;
        kind = KindOf(list.Operand, kind);
        bool hasTimes = values.Exists(value => TimeText.Is(value, kind));
        if (list.All && hasTimes)
            return new AndQuery([.. values.Select(value => Equal(field, value, kind))]);
        if (list.All)
            return values.Count == 0 ? new MatchAllQuery() : new AllInQuery(field, values);

        if (hasTimes)
            values = [
                .. values.SelectMany(
                    value => TimeText.Is(value, kind)
                        ? [TimeText.First(value, kind), TimeText.Last(value, kind)]
                        : (FieldValue[])[value])];
        return values.Count == 0 ? new MatchNoneQuery() : new InQuery(field, values);
    }

    /// <summary>Matches documents by id, ignoring case. Only text values can match.</summary>
    private static KeyQuery ByKey(List<FieldValue> values) =>
        new([.. values.Select(value => value.Text).OfType<string>().Select(TextMethodBinder.Key)]);

    private IndexQuery BindMethod(MethodExpression method, AutoIndexFieldKind kind)
    {
        if (method.Is("exact"))
            return Bind(Arguments(method, 1, 1)[0], AutoIndexFieldKind.Exact);
        if (method.Is("boost"))
            return BindBoost(method, kind);
        if (method.Is("search"))
            return BindSearch(method, kind);
        if (method.Is("proximity"))
            return BindProximity(method, kind);
        if (method.Is("exists"))
            return BindExists(method);
        if (method.Is("startsWith") && method.Arguments is [{ } id, { } start] && fields.IsKey(id.Value))
            return parameters.Text(start.Value, "the start of the id") is { Length: > 0 } prefix
                ? new KeyQuery([TextMethodBinder.Key(prefix)], IsPrefix: true)
                : new MatchAllQuery();
        if (method.Is("startsWith"))
            return BindAffix(method, kind, static (field, text) => new PrefixQuery(field, text));
        if (method.Is("endsWith") && method.Arguments is [{ } ended, { } end] && fields.IsKey(ended.Value))
            return fields.HasNoIds
                ? new MatchNoneQuery()
                : new KeyPatternQuery(TextMethodBinder.Bound(parameters.Text(end.Value, "the end of the id")), IsRegex: false);
        if (method.Is("endsWith"))
            return BindAffix(method, kind, static (field, text) => new SuffixQuery(field, text));
        if (VectorBinder.IsSearch(method))
        {
            _isScored = true;
            return new VectorBinder(query, parameters, fields).Bind(method, isExact: kind == AutoIndexFieldKind.Exact);
        }

        if (FusionBinder.MethodOf(method) is { } fusion)
        {
            _isScored = true;
            return new FusionBinder(query, parameters, argument => Bind(argument, kind)).Bind(method, fusion);
        }

        if (SpatialBinder.RelationOf(method) is { } relation)
            return new SpatialBinder(query, parameters, fields).BindRelation(method, relation);
        if (TextMethods.TryBind(method, kind) is { } text)
            return text;
        if (fields.IsId(method))
            throw RqlErrors.At(
                query.Text, method.Position, "'id()' alone is no condition: compare it, for instance id() = 'users/1'.");
        if (method.Is("cmpxchg"))
            throw RqlErrors.At(
                query.Text, method.Position,
                "'cmpxchg()' is a value and no condition: compare a field with it, for instance Email = cmpxchg('emails/a').");

        if (query.Declares(method))
            fields.Field(method, kind); // says where it may stand
        throw RqlErrors.At(
            query.Text,
            method.Position,
            $"There is no method '{method.Name}()' for a condition"
                + (RqlAdvice.ForCall(method) is { } advice ? $": {advice}."
                    : $".{RqlAdvice.DidYouMean(method.Name, FunctionNames.Conditions)} There are: "
                        + $"{string.Join(", ", FunctionNames.Conditions)}."));
    }

    private BoostQuery BindBoost(MethodExpression method, AutoIndexFieldKind kind)
    {
        IReadOnlyList<Expression> arguments = Arguments(method, 2, 2);
        _isScored = true;
        double wanted = parameters.NumberFromZero(arguments[1], "the factor of 'boost'");
        float factor = (float)wanted;
        return BoostLimits.IsOfQuery(factor) && (factor > 0 || wanted == 0)
            ? new BoostQuery(Bind(arguments[0], kind), factor)
            : throw RqlErrors.At(
                query.Text, arguments[1].Position,
                $"The factor of 'boost' is 0 or a number from {BoostLimits.LeastOfQuery} to {BoostLimits.MostOfQuery}. Only how "
                    + $"boosts compare with one another counts.");
    }

    private FullTextQuery BindSearch(MethodExpression method, AutoIndexFieldKind kind)
    {
        IReadOnlyList<Expression> arguments = Arguments(method, 2, 3);
        if (kind == AutoIndexFieldKind.Exact)
            throw RqlErrors.At(
                query.Text, method.Position,
                "'search()' finds words and cannot stand inside 'exact()', which compares whole values.");
        if (fields.IsId(arguments[0]))
            throw RqlErrors.At(
                query.Text, method.Position, "'search()' finds words of a field; use startsWith(id(), …) for ids.");

        bool all = false;
        if (arguments.Count == 3)
        {
            string word = arguments[2] is PathExpression { Segments: [{ } only] } ? only.Name : "";
            all = RqlKeywords.Is(word, "and");
            if (!all && !RqlKeywords.Is(word, "or"))
                throw RqlErrors.At(query.Text, arguments[2].Position, "Expected 'and' or 'or' as the operator of 'search()'.");
        }

        _isScored = true;
        string field = fields.Field(arguments[0], AutoIndexFieldKind.Search).SchemaName;
        return new FullTextQuery(field, parameters.Text(arguments[1], "what to search"), all);
    }

    /// <summary>
    /// Matches all words of the search near each other, each at most the given distance from its position in the phrase.
    /// </summary>
    private PhraseQuery BindProximity(MethodExpression method, AutoIndexFieldKind kind)
    {
        IReadOnlyList<Expression> arguments = Arguments(method, 2, 2);
        if (arguments[0] is not MethodExpression search || !search.Is("search"))
            throw RqlErrors.At(
                query.Text, arguments[0].Position,
                "'proximity()' is about words: its first argument is a search, as in proximity(search(Notes, 'red fox'), 3).");

        FullTextQuery text = BindSearch(search, kind);
        FieldValue distance = parameters.Value(arguments[1]);
        if (distance is not { Kind: FieldValueKind.Long, Long: >= 0 and <= MaxDistance })
            throw RqlErrors.At(
                query.Text, arguments[1].Position,
                $"The distance of 'proximity()' is a whole number from 0 to {MaxDistance:N0}.");
        return new PhraseQuery(text.Field, text.Text, (int)distance.Long);
    }

    private IndexQuery BindExists(MethodExpression method)
    {
        Expression operand = Arguments(method, 1, 1)[0];
        return fields.IsId(operand)
            ? new MatchAllQuery()
            : new ExistsQuery(fields.Existing(operand, AutoIndexFieldKind.Value).SchemaName);
    }

    private IndexQuery BindAffix(MethodExpression method, AutoIndexFieldKind kind, Func<string, string, IndexQuery> make)
    {
        IReadOnlyList<Expression> arguments = Arguments(method, 2, 2);
        return make(
            fields.Field(arguments[0], kind).SchemaName,
            parameters.Text(arguments[1], $"the second argument of '{method.Name}()'"));
    }

    private IReadOnlyList<Expression> Arguments(MethodExpression method, int least, int most)
    {
        int count = method.Arguments.Count;
        if (count < least || count > most)
            throw RqlErrors.At(
                query.Text, method.Position,
                $"'{method.Name}()' takes {(least == most ? $"{least}" : $"{least} or {most}")} arguments; {count} are given.");

        return [.. method.Arguments.Select(a => a.Value)];
    }

    private void RequireOrder(FieldValue value, Expression expression)
    {
        if (value.Kind == FieldValueKind.Boolean)
            throw RqlErrors.At(query.Text, expression.Position, "Booleans have no order: compare them with = or !=.");
    }
}
