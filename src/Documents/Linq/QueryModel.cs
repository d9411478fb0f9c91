using System.Linq.Expressions;
using System.Text;
using Treepie.Queries;

namespace Treepie.Linq;

/// <summary>A LINQ query as its parts, before it becomes text. Immutable.</summary>
/// <param name="Session">The session it belongs to.</param>
/// <param name="DocumentType">The type of its documents.</param>
/// <param name="IndexName">The index that is asked; null: the collection of the type.</param>
/// <param name="Read">Gives the object of a result that is not selected.</param>
internal sealed record QueryModel(IQuerySession Session, Type DocumentType, string? IndexName, ReadResult Read)
{
    public IReadOnlyList<Func<Translation, Clause>> Conditions { get; init; } = [];

    public IReadOnlyList<Func<Translation, string>> Orders { get; init; } = [];

    /// <summary>Conditions that are looked at in documents.</summary>
    public IReadOnlyList<DocumentLambda> Filters { get; init; } = [];

    /// <summary>Most documents that they are looked at in.</summary>
    public long FilterLimit { get; init; } = long.MaxValue;

    public IReadOnlyList<Func<Translation, string>> Includes { get; init; } = [];

    /// <summary>What each document becomes; null: it stays what it is.</summary>
    public DocumentLambda? Projection { get; init; }

    /// <summary>What documents are grouped by; null: they are not.</summary>
    public DocumentLambda? GroupKey { get; init; }

    /// <summary>What stands for the documents of a group in <see cref="Projection"/>.</summary>
    public ParameterExpression? Group { get; init; }

    /// <summary>The class that results are read as, member by member; null: <see cref="Projection"/> says.</summary>
    public Type? Into { get; init; }

    /// <summary>The class that documents are read as in place of the one that conditions name; null: that one.</summary>
    public Type? ReadAs { get; init; }

    public bool IsDistinct { get; init; }

    public long Skip { get; init; }

    public long Take { get; init; } = long.MaxValue;

    public bool AllowsStale { get; init; }

    public bool Waits { get; init; }

    public TimeSpan? WaitTimeout { get; init; }

    public bool WantsStatistics { get; init; }

    /// <summary>Told of the answer when its results have been read.</summary>
    public IReadOnlyList<Action<QueryResults>> Observers { get; init; } = [];

    private bool IsPaged => Skip > 0 || Take != long.MaxValue;

    public QueryModel Where(LambdaExpression predicate, bool exact = false)
    {
        RequireUnpaged("Where");
        DocumentLambda condition = OnDocument(predicate);
        return this with
        {
            Conditions =
            [
                .. Conditions,
                t => exact
                    ? t.Conditions.Of(condition).Within(text => $"exact({text})", filters: true)
                    : t.Conditions.Of(condition)
            ]
        };
    }

    public QueryModel Filter(LambdaExpression predicate, int limit)
    {
        RequireUnpaged("Filter");
        return this with
        {
            Filters = [.. Filters, OnDocument(predicate)],
            FilterLimit = limit == int.MaxValue ? FilterLimit : Math.Min(FilterLimit, limit),
        };
    }

    public QueryModel Where(Func<Translation, Clause> condition)
    {
        RequireUnpaged("A condition");
        return this with { Conditions = [.. Conditions, condition] };
    }

    public QueryModel OrderBy(LambdaExpression key, bool descending, bool isFirst)
    {
        DocumentLambda member = OnDocument(key);
        return OrderBy(t => OrderTranslator.Of(t.Paths, member, descending), isFirst);
    }

    public QueryModel OrderBy(Func<Translation, string> order, bool isFirst)
    {
        RequireUnpaged("OrderBy");
        return this with { Orders = isFirst ? [order] : [.. Orders, order] };
    }

    public QueryModel Select(LambdaExpression selector)
    {
        if (IsDistinct)
            throw new NotSupportedException("Distinct is the last thing that changes rows: call Select before it.");
        if (Into is not null)
            throw new NotSupportedException("Select stands in place of ProjectInto, not behind it.");
        return this with { Projection = OnDocument(selector) };
    }

    /// <summary>Documents grouped by a key, and what each group becomes.</summary>
    public QueryModel Select(LambdaExpression key, LambdaExpression selector)
    {
        RequireUnpaged("GroupBy");
        if (Orders.Count > 0 || IndexName is not null)
            throw new NotSupportedException(
                IndexName is null
                    ? "OrderBy stands behind GroupBy and Select: groups are sorted, not documents."
                    : "An index is asked as it is: it has its groups from its definition.");
        DocumentLambda own = OnDocument(key);
        Expression body = new GroupKeyInliner(selector.Parameters[0], own.Body).Visit(selector.Body);
        return this with { GroupKey = own, Group = selector.Parameters[0], Projection = own with { Body = body } };
    }

    public QueryModel ProjectInto(Type type) =>
        Projection is null && !IsDistinct
            ? this with { Into = type }
            : throw new NotSupportedException("ProjectInto stands in place of Select, not behind it.");

    public QueryModel OfType(Type type, ReadResult read) =>
        Projection is null && Into is null
            ? this with { ReadAs = type, Read = read }
            : throw new NotSupportedException("OfType stands in place of Select and ProjectInto, not behind them.");

    public QueryModel Page(long skip, long take)
    {
        long left = Take == long.MaxValue ? long.MaxValue : Math.Max(0, Take - skip);
        return this with { Skip = checked(Skip + skip), Take = Math.Min(left, take) };
    }

    public QueryModel Distinct()
    {
        RequireUnpaged("Distinct");
        return this with { IsDistinct = Projection is not null || Into is not null }; // documents differ from one another
    }

    /// <summary>A lambda about rows as one about documents.</summary>
    public DocumentLambda OnDocument(LambdaExpression lambda)
    {
        if (Into is not null)
            throw new NotSupportedException("Conditions and orders stand before ProjectInto.");
        if (ReadAs is not null)
            throw new NotSupportedException("Conditions, orders and includes stand before OfType.");
        if (Projection is null)
            return DocumentLambda.Of(lambda);
        return Projection with { Body = Inliner.Inline(lambda, Projection.Body) };
    }

    /// <summary>The query as text.</summary>
    public TranslatedQuery Translate()
    {
        using Translation translation = Begin();
        RowReader rows = RowReader.Of(this, translation.Paths);
        StringBuilder text = Beginning(translation);
        if (Orders.Count > 0)
            text.Append(" order by ").AppendJoin(", ", Orders.Select(order => order(translation)));
        AppendFilter(text, translation);
        if (rows.Select is { } select)
            text.Append(IsDistinct && !rows.IsComputed ? " select distinct " : " select ").Append(select);
        if (Includes.Count > 0)
            text.Append(" include ").AppendJoin(", ", Includes.Select(include => include(translation)));

        // What is skipped of distinct rows, and what is left of them where they are computed here, is counted here.
        long skip = IsDistinct ? 0 : Skip;
        long take = !IsDistinct ? Take : rows.IsComputed || Take == long.MaxValue ? long.MaxValue : Skip + Take;
        if (skip > 0 || take != long.MaxValue)
            text.Append(" limit ")
                .Append(translation.Parameters.Add("skip", skip))
                .Append(", ")
                .Append(translation.Parameters.Add("take", take));
        AppendFilterLimit(text, translation);
        return new TranslatedQuery(new RqlStatement(text.ToString(), translation.Parameters.ToJson()), rows);
    }

    /// <summary>The query as text, with what stands behind the condition given by who asks.</summary>
    public RqlStatement Translate(Func<Translation, string> end)
    {
        using Translation translation = Begin();
        StringBuilder text = Beginning(translation);
        AppendFilter(text, translation);
        text.Append(end(translation));
        AppendFilterLimit(text, translation);
        return new RqlStatement(text.ToString(), translation.Parameters.ToJson());
    }

    /// <summary>As <see cref="Translate(Func{Translation, string})"/>, of what an index counts without documents.</summary>
    public RqlStatement TranslateOnIndex(Func<Translation, string> end) => Translate(t =>
        t.Rest is { } rest
            ? throw Refusal.Of(
                rest.Quoted,
                "It is looked at in documents, and facets and suggestions come of an index. Store what it comes to as a member "
                    + "of its own, or count what ToListAsync() gives.")
            : end(t));

    public QueryRequest Request(RqlStatement statement, bool counts = false) => new()
    {
        Text = statement.Text,
        Parameters = statement.Parameters,
        CountsResults = counts || WantsStatistics,
        NeverStale = !AllowsStale && !Waits,
        WaitForNonStaleResults = Waits,
        WaitTimeout = WaitTimeout,
    };

    private StringBuilder Beginning(Translation translation)
    {
        var text = new StringBuilder();
        string collection = Session.CollectionOf(DocumentType);
        bool isPlain = collection.All(sign => char.IsAsciiLetterOrDigit(sign) || sign == '_')
            && char.IsAsciiLetter(collection[0]);
        text.Append(IndexName is null ? "from " : "from index ")
            .Append(IndexName is null && isPlain ? collection : Quoted(IndexName ?? collection));
        if (GroupKey is { } key)
            text.Append(" group by ").AppendJoin(", ", KeysOf(key, translation));
        Clause where = Conditions is [{ } single]
            ? single(translation)
            : Clause.And(Conditions.Select(condition => condition(translation)));
        translation.Rest = where.Check;
        if (where with { Check = null } is var most && most != Clause.Always)
            text.Append(" where ").Append(most.Whole);
        return text;
    }

    /// <summary>What is looked at in documents.</summary>
    private void AppendFilter(StringBuilder text, Translation translation)
    {
        var filters = new List<Clause>();
        if (translation.Rest is { } rest)
            filters.Add(rest.Rest.IsOfIndex ? throw Refusal.Of(rest.Quoted, RqlMethodTranslator.OnlyOfIndex) : rest.Rest);
        filters.AddRange(Filters.Select(translation.Conditions.OfFilter));
        if (filters.Count == 0)
            return;
        if (GroupKey is not null)
            throw new NotSupportedException(
                "A query with GroupBy has conditions about keys, counts and sums. Write what is looked at in documents in a "
                    + "query of its own.");
        translation.Rest ??= new ElementCheck(Clause.Never, Clause.Always, Clause.Always, Filters[0].Body);
        text.Append(" filter ").Append(Clause.And(filters).Whole);
    }

    private void AppendFilterLimit(StringBuilder text, Translation translation)
    {
        if (FilterLimit != long.MaxValue)
            text.Append(" filter_limit ").Append(translation.Parameters.Add("filterLimit", FilterLimit));
    }

    private Translation Begin()
    {
        var translation = new Translation(Session, DocumentType);
        if (Group is { } group)
            translation.Paths.EnterGroup(group);
        return translation;
    }

    private static IEnumerable<string> KeysOf(DocumentLambda key, Translation translation)
    {
        translation.Paths.EnterDocument(key);
        IEnumerable<Expression> members = key.Body is NewExpression made ? made.Arguments : [key.Body];
        return members.Select(member => translation.Paths.Of(member).Text);
    }

    private static string Quoted(string name) => $"'{name.Replace("'", "''", StringComparison.Ordinal)}'";

    private void RequireUnpaged(string what)
    {
        if (IsPaged)
            throw new NotSupportedException($"{what} stands before Skip and Take: a query takes its page at the end.");
        if (IsDistinct)
            throw new NotSupportedException($"{what} stands before Distinct.");
    }
}
