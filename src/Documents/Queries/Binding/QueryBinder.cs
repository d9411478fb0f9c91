using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexes.Grouping;
using Treepie.Indexing.Queries;
using Treepie.Queries.Filters;
using Treepie.Queries.Projecting;
using Treepie.Queries.Scripts;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Binds a syntax tree and its parameters. Features that are recognized but not supported yet are rejected here with their name
/// and position, rather than answered incorrectly.
/// </summary>
internal sealed class QueryBinder
{
    private readonly RqlQuery _query;
    private readonly QueryParameters _parameters;
    private readonly FieldBinder _fields;
    private readonly TimeProvider _timeProvider;
    private readonly BindingContext _context;
    private readonly string? _warning;
    private List<ExaminedKey>? _examinedKeys;
    private ExaminedValues? _examinedValues;
    private int _askedForConditions;
    private bool _loadsDocuments;

    private QueryBinder(
        RqlQuery query, QueryParameters parameters, FieldBinder fields, TimeProvider timeProvider, BindingContext context,
        bool isAgain = false)
    {
        _context = context;
        (_query, _warning) = isAgain || !context.ExaminesDocuments
            ? (query, null)
            : ExaminedConditions.Divide(query, fields.Index);
        _parameters = parameters;
        _fields = fields;
        _timeProvider = timeProvider;
    }

    /// <summary>Binds a query, to the fields of <paramref name="index"/> if it names an index.</summary>
    /// <exception cref="InvalidQueryException">The query refers to something that does not exist or is not supported
    /// yet.</exception>
    public static BoundQuery Bind(
        RqlQuery query, JsonElement parameters, TimeProvider timeProvider, IndexMapping? index = null,
        BindingContext? context = null, CancellationToken cancellationToken = default) =>
        Bind(query, parameters, timeProvider, index, context ?? new BindingContext(), out _, cancellationToken);

    /// <summary>Binds a query and also returns its reusable part.</summary>
    /// <param name="query">The query.</param>
    /// <param name="parameters">Its parameters.</param>
    /// <param name="timeProvider">The clock.</param>
    /// <param name="index">The named index of the query, or null.</param>
    /// <param name="context">What it may reference.</param>
    /// <param name="prepared">The prepared query, or null if it cannot be reused.</param>
    /// <param name="cancellationToken">Cancels the binding.</param>
    public static BoundQuery Bind(
        RqlQuery query, JsonElement parameters, TimeProvider timeProvider, IndexMapping? index, BindingContext context,
        out PreparedQuery? prepared, CancellationToken cancellationToken)
    {
        var values = new QueryParameters(query, parameters, context, cancellationToken);
        if (query.GroupBy.Count == 0)
        {
            query = query.WithWholeCondition();
            var binder = new QueryBinder(query, values, new FieldBinder(query, index), timeProvider, context);
            BoundQuery plain = binder.Bind();
            prepared = binder.Prepare(plain, index);
            return plain;
        }

        prepared = null;
        BoundQuery? documents = query.From.PreFilter is { } condition
            ? BindDocuments(query, condition, values, timeProvider, context)
            : null;
        (RqlQuery overGroups, GroupDefinition groups) = GroupBinder.Bind(
            query with { From = query.From with { PreFilter = null } });
        BoundQuery bound = new QueryBinder(
            overGroups, values, new FieldBinder(overGroups, groups), timeProvider, context).Bind();
        if (bound.Highlights.Count > 0 || bound.WantsExplanations)
            throw RqlErrors.At(
                query.Text, query.GroupBy[0].Value.Position,
                "Groups are no documents: 'highlight()' and 'explanations()' do not go with 'group by'.");
        IReadOnlyList<FieldPath> mentioned = [
            .. groups.Keys.Select(static key => key.Path)
                .Concat(groups.Aggregates.Select(static one => one.Path))
                .Distinct()
                .Select(FieldPath.TryParse)
                .OfType<FieldPath>()
                .Where(static path => !path.IsMetadata)];
        return bound with
        {
            Source = SourceKind.AutoIndex,
            Groups = groups.With(bound.Fields.Select(use => use.Field)),
            Mentioned = mentioned,
            Documents = documents is null ? null : documents with { Mentioned = [.. documents.Mentioned, .. mentioned] },
            ReadsBeside = bound.ReadsBeside || documents is { ReadsBeside: true },
        };
    }

    /// <summary>Binds the query for the documents that are grouped: <c>from Orders (Freight > 3) group by …</c>.</summary>
    private static BoundQuery BindDocuments(
        RqlQuery query, Expression condition, QueryParameters values, TimeProvider timeProvider, BindingContext context)
    {
        var documents = new RqlQuery { Text = query.Text, From = query.From with { PreFilter = null }, Where = condition };
        BoundQuery bound = new QueryBinder(documents, values, new FieldBinder(documents), timeProvider, context).Bind();
        return bound with { Sort = [], IsScored = false, ReadsBeside = bound.ReadsBeside || bound.Script is not null };
    }

    /// <summary>Binds the condition and page of a query whose order and output are bound already.</summary>
    public static BoundQuery BindAgain(
        RqlQuery query, JsonElement parameters, TimeProvider timeProvider, BoundQuery before, FieldBinder fields,
        BindingContext context, CancellationToken cancellationToken)
    {
        var values = new QueryParameters(query, parameters, context, cancellationToken);
        var binder = new QueryBinder(query.WithWholeCondition(), values, fields, timeProvider, context, isAgain: true);
        BoundQuery found = binder.BindSource(before);
        return binder.ConditionReadsBeside ? found with { ReadsBeside = true } : found;
    }

    private BoundQuery Bind()
    {
        RefuseUnsupported();
        BoundQuery found = BindSource(null);
        if (_query is { FilterLimit: { } limit, Filter: null }) // after the conditions, whose errors say more
            throw RqlErrors.At(
                _query.Text, limit.Position,
                "'filter_limit' limits how many documents 'filter' examines, and there is no 'filter'.");
        return BindOutput(found);
    }

    /// <summary>
    /// Returns the reusable part, or null if the sort order or the output can change from one run to the next.
    /// </summary>
    private PreparedQuery? Prepare(BoundQuery bound, IndexMapping? index)
    {
        bool isSaid = _parameters.Asked == _askedForConditions
            && bound is { IsComputed: false, Script: null, Filter: null, ExaminedKeys.Count: 0 }
            && !bound.Sort.Any(static key => key.Kind is SortKind.Random or SortKind.Custom);
        return isSaid ? new PreparedQuery(_query, bound, _fields, index, takesParameters: _parameters.Asked > 0) : null;
    }

    private void RefuseUnsupported()
    {
        if (_query.Update is { } update)
            throw RqlErrors.At(
                _query.Text, update.Position,
                "'update' changes what the query finds: send it as an operation that patches by query, not as a query.");
        if (_query.Filter is { } filter && ExaminedConditions.Suggests(_query))
            throw RqlErrors.At(
                _query.Text, filter.Position,
                "'suggest()' gives terms of a field, of all documents, and 'filter' leaves out documents: leave out 'filter'.");
    }

    /// <summary>Binds the source, condition and page; the rest is taken from <paramref name="before"/> if given.</summary>
    private BoundQuery BindSource(BoundQuery? before)
    {
        FromClause from = _query.From;
        string? collection = string.Equals(from.Name, AutoIndexDefinition.AllDocuments, StringComparison.OrdinalIgnoreCase)
            ? null
            : from.Name;
        long skip = _parameters.Count(_query.Skip, "offset", 0), take = _parameters.Count(_query.Take, "limit", long.MaxValue);
        if (!from.IsIndex && _query.OrderBy.Count == 0 && (before is not null || !IsComputed) && IsAboutIds)
        {
            (SourceKind source, IReadOnlyList<string> ids, string prefix) = BindIds();
            _askedForConditions = _parameters.Asked;
            return (before ?? new BoundQuery { Source = source, Collection = collection }) with
            {
                Ids = ids,
                IdPrefix = prefix,
                Skip = skip,
                Take = take
            };
        }

        var conditions = new ConditionBinder(_query, _parameters, _fields, Load);
        IndexQuery condition = _query.Where is null ? new MatchAllQuery() : conditions.Bind(_query.Where);
        _askedForConditions = _parameters.Asked;
        IReadOnlyList<SortKey> sort = before?.Sort ?? [.. _query.OrderBy.Select((key, place) => BindOrderKey(key, place))];
        if (sort.Count == 0 && conditions.IsScored)
            sort = [BestFirst];

        bool isPlain = !from.IsIndex && condition is MatchAllQuery && sort.Count == 0 && (before is not null || !IsComputed);
        BoundQuery found = before ?? new BoundQuery
        {
            Source = SourceKind.Collection,
            Collection = from.IsIndex ? null : collection,
            IndexName = from.IsIndex ? from.Name : null,
            Learning = _fields.Learning,
            ConditionPosition = _query.Where?.Position ?? 0,
            ExaminedKeys = _examinedKeys ?? [],
            Facets = _query.Select is { } select && FacetBinder.AreWanted(select)
                ? new FacetBinder(_query, _parameters, _fields, conditions, Load, Examined).Bind(select)
                : [],
            Suggestions = new SuggestionBinder(_query, _parameters, _fields).Bind(),
        };
        return found with
        {
            Source = from.IsIndex ? SourceKind.NamedIndex : isPlain ? SourceKind.Collection : SourceKind.AutoIndex,
            Condition = condition,
            Sort = sort,
            Fields = _fields.Uses,
            IsScored = conditions.IsScored && IsByScore(sort),
            Skip = skip,
            Take = take,
        };
    }

    private static bool IsByScore(IReadOnlyList<SortKey> sort)
    {
        for (int i = 0; i < sort.Count; i++)
            if (sort[i].Kind == SortKind.Score)
                return true;
        return false;
    }

    /// <summary>Whether the query means something else when a document or compare-exchange value that it names changes.</summary>
    private bool ConditionReadsBeside => _loadsDocuments || _parameters.ReadsCompareExchange;

    private byte[]? Load(string id)
    {
        _loadsDocuments = true;
        return _context.LoadDocument(id);
    }

    private bool IsComputed => ExaminedConditions.ReturnsCounts(_query);

    private static SortKey BestFirst => new("", SortKind.Score, Descending: true);

    /// <summary>
    /// Whether the condition is on the id alone, so that the document store can answer it without an index.
    /// </summary>
    private bool IsAboutIds => _query.Where switch
    {
        CompareExpression { Operator: CompareOperator.Equal } compare => _fields.IsId(compare.Left),
        InExpression { All: false } list => _fields.IsId(list.Operand),
        MethodExpression { Arguments: [{ } operand, _] } method => method.Is("startsWith") && _fields.IsId(operand.Value),
        _ => false,
    };

    private (SourceKind Source, IReadOnlyList<string> Ids, string Prefix) BindIds() => _query.Where switch
    {
        CompareExpression compare => (SourceKind.Ids, Texts([_parameters.Value(compare.Right)]), ""),
        InExpression list => (SourceKind.Ids, Texts(_parameters.Values(list.Values)), ""),
        MethodExpression { Arguments: [_, { } prefix] } =>
            (SourceKind.IdPrefix, [], _parameters.Text(prefix.Value, "the start of the id")),
        _ => throw new InvalidOperationException("The condition is not about ids."),
    };

    private static IReadOnlyList<string> Texts(List<FieldValue> values) => [.. values.Select(v => v.Text).OfType<string>()];

    /// <summary>Binds values that no index has. Null if the query is not to examine documents.</summary>
    private ExaminedValues? Examined => !_context.ExaminesDocuments
        ? null
        : _examinedValues ??= new ExaminedValues(_query, _parameters, _fields);

    private SortKey BindOrderKey(OrderKey key, int place)
    {
        if (Examined?.TryBind(key.Value, "order") is { } examined)
        {
            SortKind? compared = key.Type switch
            {
                OrderType.Default when key.Value is MethodExpression => null,
                OrderType.Long => SortKind.Long,
                OrderType.Double => SortKind.Double,
                OrderType.AlphaNumeric => SortKind.AlphaNumeric,
                _ => SortKind.Text,
            };
            (_examinedKeys ??= []).Add(new ExaminedKey(place, examined, compared));
            return new SortKey("", SortKind.Given, key.Descending, key.NullsFirst);
        }

        if (key.Value is MethodExpression method && !_fields.IsId(method) && ComputedOperand.Of(_query, method) is null)
            return BindOrderMethod(key, method);

        if (_fields.IsKey(key.Value) && !_fields.IsOverGroups)
            return BindOrderById(key);
        AutoIndexField field = _fields.Field(key.Value, AutoIndexFieldKind.Value);
        SortKind kind = key.Type switch
        {
            OrderType.Default when ComputedKinds.IsNumber(field.Kind) => SortKind.Long,
            OrderType.Long => SortKind.Long,
            OrderType.Double => SortKind.Double,
            OrderType.AlphaNumeric => SortKind.AlphaNumeric,
            _ => SortKind.Text,
        };
        return new SortKey(field.SchemaName, kind, key.Descending, key.NullsFirst);
    }

    /// <summary>The order by id of an index without a field of ids.</summary>
    private SortKey BindOrderById(OrderKey key) => key.Type switch
    {
        OrderType.AlphaNumeric => new SortKey("", SortKind.AlphaNumericKey, key.Descending),
        OrderType.Long or OrderType.Double => throw RqlErrors.At(
            _query.Text, key.Value.Position,
            "Ids are texts and have no order as numbers: write 'id() as alphaNumeric', which puts users/2 before users/10."),
        _ => new SortKey("", SortKind.Key, key.Descending),
    };

    private SortKey BindOrderMethod(OrderKey key, MethodExpression method)
    {
        if (method.Is("score") && method.Arguments.Count == 0)
            return BestFirst with { Descending = !key.Descending };

        if (method.Is("random") && method.Arguments.Count <= 1)
        {
            string seed = method.Arguments is [{ } given]
                ? _parameters.Text(given.Value, "the seed of 'random()'")
                : _timeProvider.GetTimestamp().ToString(System.Globalization.CultureInfo.InvariantCulture);
            return new SortKey("", SortKind.Random, key.Descending, Seed: seed);
        }

        if (SpatialBinder.IsDistance(method))
            return new SpatialBinder(_query, _parameters, _fields).BindDistance(key, method);
        if (method.Is("custom"))
            return BindCustomOrder(key, method);

        if (FieldBinder.IsBeside(method))
            throw _fields.NoFieldBeside(method);
        if (FilterFunctions.Knows(method.Name))
            throw RqlErrors.At(
                _query.Text, method.Position,
                $"No index that a query makes has this '{method.Name}()' as a field; they have those of one path, as year(At), "
                    + "length(Name) and count(Lines). For anything else an index may compute a field in its map "
                    + "(new { Large = o.Lines.Count(l => l.Amount > 3) }), and is asked for the order of that.");
        throw FunctionNames.NotHere(_query, method, "in 'order by'");
    }

    private SortKey BindCustomOrder(OrderKey key, MethodExpression method)
    {
        if (method.Arguments is not [{ Value: { } operand }, { Value: { } given }])
            throw RqlErrors.At(
                _query.Text, method.Position, "'custom()' takes a field and the name of an order: custom(Size, 'BySize').");

        string name = _parameters.Text(given, "the name of an order");
        IReadOnlyDictionary<string, ICustomOrder> orders = _context.Orders();
        if (!orders.TryGetValue(name, out ICustomOrder? order))
        {
            string known = orders.Count == 0
                ? "The database has no sorters"
                : $"There are: {string.Join(", ", orders.Keys.Order(StringComparer.Ordinal))}";
            throw RqlErrors.At(
                _query.Text, given.Position,
                $"There is no order '{name}'. {known} (Database.Sorters, admin/sorters, DatabaseOptions.CustomOrders).");
        }

        return new SortKey(
            _fields.Field(operand, AutoIndexFieldKind.Value).SchemaName, SortKind.Custom, key.Descending,
            key.NullsFirst)
        { Custom = order };
    }

    /// <summary>
    /// The paths of which no field of the index tells whether documents have them; where elements are counted, every document
    /// has a number of them.
    /// </summary>
    private IReadOnlyList<FieldPath> Mentioned(BoundQuery bound)
    {
        if (_fields.Index is { } index)
            return index is { KeepsObjects: true } or StaticIndexMapping { HasDynamicFields: true }
                || _context.Projection != ProjectionBehavior.Default
                ? []
                : [.. MentionedPaths.Of(_query).Where(path => !IsOfIndex(path, index))];
        IEnumerable<FieldPath> counted = bound.Fields.Where(static use => use.Field.Kind == AutoIndexFieldKind.Count)
            .Select(static use => use.Field.FieldPath)
            .OfType<FieldPath>();
        return [
            .. MentionedPaths.Of(_query)
                .Where(path => !bound.Fields.Any(use => use.Field.Path == path.Text))
                .Concat(counted)];
    }

    /// <summary>Whether a path is that of a field of a named index, or below one.</summary>
    private static bool IsOfIndex(FieldPath path, IndexMapping index) => index.StoredFields.Any(
        field => path.Text == field.Name
            || (path.Text.StartsWith(field.Name, StringComparison.Ordinal) && path.Text[field.Name.Length] is '.' or '['));

    private BoundQuery BindOutput(BoundQuery bound)
    {
        var notes = new NoteBinder(_query, _parameters, _fields);
        var loads = new LoadBinder(_query);
        var beside = new BesideBinder(_query, _parameters, _fields, loads);
        var outputs = new OutputBinder(_query, _parameters, _fields, notes, beside, loads) { Behavior = _context.Projection };
        outputs.BindLoads();
        Projection? projection = QueryScript.MakesRows(_query) ? null : outputs.BindSelect();
        (Expression? plain, Expression? scripted) = FilterNeeds.Divide(_query);
        bool filters = bound.Suggestions.Count == 0;
        DocumentFilter? filter = !filters ? null : DocumentFilter.Of(_query, plain, _parameters.Element);
        QueryScript? script = !filters
            ? null
            : QueryScript.Of(_query, _context.Computing, scripted, outputs.Computed, beside.BindDeclared);
        outputs.BindIncludes();
        bool examinesValues = _examinedValues is { IsUsed: true };
        return bound with
        {
            Mentioned = Mentioned(bound),
            Projection = projection,
            Loads = loads.Loads,
            Script = script,
            Filter = filter,
            ExaminedScript = _examinedValues?.Script(_context.Computing),
            ExaminedWarning = _examinedValues?.Warning,
            StoredFields = script is not null || filter is not null || projection is { HasFunctions: true } || examinesValues
                ? _fields.Index?.StoredFields ?? []
                : [],
            Warning = _warning,
            FilterLimit = _parameters.Count(_query.FilterLimit, "filter_limit", long.MaxValue),
            WantsTimings = outputs.WantsTimings,
            Distinct = (projection is not null || script is { Selects: true }) && _query.Select is { Distinct: true },
            NeverStale = outputs.NeverStale,
            IncludePaths = outputs.IncludePaths,
            IncludeIds = outputs.IncludeIds,
            BesideIncludes = beside.Includes,
            ReadsBeside = beside.Includes.Count > 0 || projection is { ReadsBeside: true } || ConditionReadsBeside
                || _examinedValues is { ReadsBeside: true },
            Highlights = notes.Highlights,
            WantsExplanations = notes.WantsExplanations,
            ExplanationKey = notes.ExplanationKey,
        };
    }
}
