using System.Linq.Expressions;
using System.Text;
using Treepie.Queries;

namespace Treepie.Linq;

/// <summary>The parts of a LINQ query before translation. Immutable.</summary>
/// <param name="Session">The session of the query.</param>
/// <param name="DocumentType">The type of the documents.</param>
/// <param name="IndexName">The name of the index; null: the collection of the type.</param>
/// <param name="Read">Reads a result without a projection.</param>
internal sealed record QueryModel(IQuerySession Session, Type DocumentType, string? IndexName, ReadResult Read)
{
    public IReadOnlyList<Func<Translation, Clause>> Conditions { get; init; } = [];

    /// <summary>The orders; the argument says whether they are turned around.</summary>
    public IReadOnlyList<Func<Translation, bool, string>> Orders { get; init; } = [];

    /// <summary>Whether the results are wanted from the last to the first.</summary>
    public bool IsReversed { get; init; }

    /// <summary>Conditions evaluated on documents.</summary>
    public IReadOnlyList<DocumentLambda> Filters { get; init; } = [];

    /// <summary>The maximum number of documents on which they are evaluated.</summary>
    public long FilterLimit { get; init; } = long.MaxValue;

    public IReadOnlyList<Func<Translation, string>> Includes { get; init; } = [];

    /// <summary>The projection of each document; null: none.</summary>
    public DocumentLambda? Projection { get; init; }

    /// <summary>The key by which documents are grouped; null: they are not grouped.</summary>
    public DocumentLambda? GroupKey { get; init; }

    /// <summary>The parameter of <see cref="Projection"/> that represents the documents of a group.</summary>
    public ParameterExpression? Group { get; init; }

    /// <summary>The class as which results are read, member by member; null: determined by <see cref="Projection"/>.</summary>
    public Type? Into { get; init; }

    /// <summary>The class as which documents are read instead of the one used in conditions; null: the latter.</summary>
    public Type? ReadAs { get; init; }

    public bool IsDistinct { get; init; }

    /// <summary>The function of which rows with the same value are left out after the first; null: none.</summary>
    public LambdaExpression? DistinctKey { get; init; }

    public long Skip { get; init; }

    public long Take { get; init; } = long.MaxValue;

    public bool AllowsStale { get; init; }

    public bool Waits { get; init; }

    public TimeSpan? WaitTimeout { get; init; }

    public bool WantsStatistics { get; init; }

    /// <summary>Called with the results after they have been read.</summary>
    public IReadOnlyList<Action<QueryResults>> Observers { get; init; } = [];

    /// <summary>Whether rows are left out by comparing them with others, so that pages are of those that remain.</summary>
    public bool ComparesRows => IsDistinct || DistinctKey is not null;

    public bool IsPaged => Skip > 0 || Take != long.MaxValue;

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

    /// <summary>Adds the opposite of a condition.</summary>
    public QueryModel WhereNot(LambdaExpression predicate)
    {
        DocumentLambda condition = OnDocument(predicate);
        DocumentLambda opposite = condition with { Body = Expression.Not(condition.Body) };
        return Where(t => t.Conditions.Of(opposite));
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
        return OrderBy(
            (t, isReversed) => OrderTranslator.Of(t.Conditions, member, descending != isReversed), isFirst);
    }

    public QueryModel OrderBy(Func<Translation, string> order, bool isFirst) => OrderBy(
        (t, isReversed) => isReversed
            ? throw new NotSupportedException(
                "Only an order by members can be turned around. Turn it around with OrderByDescending and take the first.")
            : order(t),
        isFirst);

    private QueryModel OrderBy(Func<Translation, bool, string> order, bool isFirst)
    {
        RequireUnpaged("OrderBy");
        return this with { Orders = isFirst ? [order] : [.. Orders, order] };
    }

    public QueryModel Select(LambdaExpression selector)
    {
        if (ComparesRows)
            throw new NotSupportedException("Distinct is the last thing that changes rows: call Select before it.");
        if (Into is not null)
            throw new NotSupportedException("Select replaces ProjectInto and cannot follow it.");
        return this with { Projection = OnDocument(selector) };
    }

    /// <summary>Groups documents by a key and projects each group.</summary>
    public QueryModel Select(LambdaExpression key, LambdaExpression selector)
    {
        RequireUnpaged("GroupBy");
        if (Orders.Count > 0 || IndexName is not null)
            throw new NotSupportedException(
                IndexName is null
                    ? "OrderBy must follow GroupBy and Select: groups are sorted, not documents."
                    : "An index is asked as it is: it has its groups from its definition.");
        DocumentLambda own = OnDocument(key);
        Expression body = new GroupKeyInliner(selector.Parameters[0], own.Body).Visit(selector.Body);
        return this with { GroupKey = own, Group = selector.Parameters[0], Projection = own with { Body = body } };
    }

    public QueryModel ProjectInto(Type type) =>
        Projection is null && !ComparesRows
            ? this with { Into = type }
            : throw new NotSupportedException("ProjectInto replaces Select and cannot follow it.");

    public QueryModel OfType(Type type, ReadResult read) =>
        Projection is null && Into is null
            ? this with { ReadAs = type, Read = read }
            : throw new NotSupportedException("OfType replaces Select and ProjectInto and cannot follow them.");

    public QueryModel Page(long skip, long take)
    {
        long left = Take == long.MaxValue ? long.MaxValue : Math.Max(0, Take - skip);
        return this with { Skip = checked(Skip + skip), Take = Math.Min(left, take) };
    }

    public QueryModel Distinct()
    {
        RequireUnpaged("Distinct");
        return this with { IsDistinct = Projection is not null || Into is not null }; // documents are distinct
    }

    public QueryModel DistinctBy(LambdaExpression key)
    {
        RequireUnpaged("DistinctBy");
        return this with { DistinctKey = key };
    }

    /// <summary>Returns the query for its last results: those of the opposite order, from its beginning.</summary>
    public QueryModel Reversed() =>
        Orders.Count > 0
            ? this with { IsReversed = true }
            : throw new NotSupportedException(
                "Without an order no result is the last. Call OrderBy before Last, or First if any result will do.");

    /// <summary>Converts a lambda on rows to one on documents.</summary>
    public DocumentLambda OnDocument(LambdaExpression lambda)
    {
        if (Into is not null)
            throw new NotSupportedException("Conditions and orders must come before ProjectInto.");
        if (ReadAs is not null)
            throw new NotSupportedException("Conditions, orders and includes must come before OfType.");
        if (Projection is null)
            return DocumentLambda.Of(lambda);
        return Projection with { Body = Inliner.Inline(lambda, Projection.Body) };
    }

    /// <summary>
    /// Returns queries whose rows have the least or greatest value among them: for the first row in the order of the projection,
    /// and for one that lacks a member that cannot be null, whose value is then the default. Null if an index does not sort as
    /// LINQ compares.
    /// </summary>
    /// <param name="descending">Whether the greatest value is wanted.</param>
    public IReadOnlyList<QueryModel>? Extreme(bool descending)
    {
        if (Projection is not { } member || IsPaged || ComparesRows || GroupKey is not null || IndexName is not null)
            return null;
        var paths = new PathTranslator(Session, DocumentType);
        paths.EnterDocument(member);
        Type type = Nullable.GetUnderlyingType(member.Body.Type) ?? member.Body.Type;
        bool sortsAsLinq = type == typeof(byte) || type == typeof(short) || type == typeof(int) || type == typeof(long)
            || type == typeof(double) || type == typeof(DateTime) || type == typeof(DateTimeOffset) || type == typeof(DateOnly);
        if (!sortsAsLinq
            || paths.TryFind(member.Body) is not { IsRoot: false, IsId: false, IsOfElements: false } path
            || (Nullable.GetUnderlyingType(path.Type) ?? path.Type) != type)
            return null;
        QueryModel first = OfNull(isNull: false)
            .OrderBy(t => OrderTranslator.Of(t.Conditions, member, descending), isFirst: true)
            .Page(0, 1) with
        { Projection = member };
        return Nullable.GetUnderlyingType(path.Type) is not null
            ? [first]
            : [first, OfNull(isNull: true).Page(0, 1) with { Projection = member }];

        QueryModel OfNull(bool isNull) => (this with { Projection = null }).Where(t =>
        {
            t.Paths.EnterDocument(member);
            return t.Conditions.Equality(t.Paths.Of(member.Body), null, isEqual: isNull, member.Body);
        });
    }

    /// <summary>Translates the query.</summary>
    public TranslatedQuery Translate()
    {
        using Translation translation = Begin();
        RowReader rows = RowReader.Of(this, translation.Paths);
        StringBuilder text = Beginning(translation);
        if (Orders.Count > 0)
            text.Append(" order by ").AppendJoin(", ", Orders.Select(order => order(translation, IsReversed)));
        AppendFilter(text, translation);
        if (rows.Select is { } select)
            text.Append(IsDistinct && !rows.IsComputed ? " select distinct " : " select ").Append(select);
        if (Includes.Count > 0)
            text.Append(" include ").AppendJoin(", ", Includes.Select(include => include(translation)));

        // Skip and take of distinct rows, and of rows computed in this process, are applied here.
        bool isComparedHere = DistinctKey is not null || (IsDistinct && rows.IsComputed);
        long skip = ComparesRows ? 0 : Skip;
        long take = !ComparesRows ? Take : isComparedHere || Take == long.MaxValue ? long.MaxValue : Skip + Take;
        if (skip > 0 || take != long.MaxValue)
            text.Append(" limit ")
                .Append(translation.Parameters.Add("skip", skip))
                .Append(", ")
                .Append(translation.Parameters.Add("take", take));
        AppendFilterLimit(text, translation);
        return new TranslatedQuery(new RqlStatement(text.ToString(), translation.Parameters.ToJson()), rows);
    }

    /// <summary>Translates the query, with the part after the conditions given by the caller.</summary>
    public RqlStatement Translate(Func<Translation, string> end)
    {
        using Translation translation = Begin();
        StringBuilder text = Beginning(translation);
        AppendFilter(text, translation);
        text.Append(end(translation));
        AppendFilterLimit(text, translation);
        return new RqlStatement(text.ToString(), translation.Parameters.ToJson());
    }

    /// <summary>
    /// Same as <see cref="Translate(Func{Translation, string})"/>, for what an index counts without reading documents.
    /// </summary>
    public RqlStatement TranslateOnIndex(Func<Translation, string> end) => Translate(t =>
        t.Rest is { } rest
            ? throw Refusal.Of(
                rest.Quoted,
                "It is evaluated on documents, but facets and suggestions come from an index. Store its result as a separate "
                    + "member, or count the results of ToListAsync().")
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

    /// <summary>Appends the conditions evaluated on documents.</summary>
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
                "A query with GroupBy has conditions about keys, counts and sums. Write a condition that is evaluated on "
                    + "documents in a separate query.");
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
        var translation = new Translation(Session, DocumentType, computes: IndexName is null);
        if (Group is { } group)
            translation.Paths.EnterGroup(group);
        return translation;
    }

    private static IEnumerable<string> KeysOf(DocumentLambda key, Translation translation)
    {
        translation.Paths.EnterDocument(key);
        IEnumerable<Expression> members = key.Body is NewExpression made ? made.Arguments : [key.Body];
        return members.Select(member =>
        {
            if (translation.Paths.TryFind(member) is not { IsRoot: false } path)
                throw Refusal.Of(
                    member,
                    "Groups are by members as they are stored. Store what is to be grouped by as a member of its own, or "
                        + "select what the groups are made of and group what ToListAsync() gives.");
            return DocumentPath.IsOffset(path.Type) ? throw Refusal.Of(member, OrderTranslator.Offsets) : path.Text;
        });
    }

    private static string Quoted(string name) => $"'{name.Replace("'", "''", StringComparison.Ordinal)}'";

    private void RequireUnpaged(string what)
    {
        if (IsPaged)
            throw new NotSupportedException($"{what} stands before Skip and Take: a query takes its page at the end.");
        if (ComparesRows)
            throw new NotSupportedException($"{what} stands before Distinct.");
    }
}
