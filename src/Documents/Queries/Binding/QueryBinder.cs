using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Grouping;
using Treepie.Indexing.Queries;
using Treepie.Queries.Projecting;
using Treepie.Queries.Scripts;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Gives a syntax tree its meaning, with its parameters. What is understood but cannot be run yet is refused here, by name and
/// place: never answered wrongly.
/// </summary>
internal sealed class QueryBinder
{
    private readonly RqlQuery _query;
    private readonly QueryParameters _parameters;
    private readonly FieldBinder _fields;
    private readonly TimeProvider _timeProvider;
    private readonly BindingContext _context;

    private QueryBinder(
        RqlQuery query, JsonElement parameters, TimeProvider timeProvider, IndexMapping? index, BindingContext context)
    {
        _context = context;
        _query = query;
        _parameters = new QueryParameters(query.Text, parameters, context.Shapes, context.CompareExchange);
        _fields = new FieldBinder(query, index);
        _timeProvider = timeProvider;
    }

    /// <summary>Binds; to the fields of <paramref name="index"/>, where the query names one.</summary>
    /// <exception cref="InvalidQueryException">The query asks for what is not there or cannot be done yet.</exception>
    public static BoundQuery Bind(
        RqlQuery query, JsonElement parameters, TimeProvider timeProvider, IndexMapping? index = null,
        BindingContext? context = null)
    {
        if (query.GroupBy.Count == 0)
            return new QueryBinder(query, parameters, timeProvider, index, context ?? new BindingContext()).Bind();

        (RqlQuery overGroups, GroupDefinition groups) = GroupBinder.Bind(query);
        BoundQuery bound = new QueryBinder(overGroups, parameters, timeProvider, groups, context ?? new BindingContext()).Bind();
        if (bound.Highlights.Count > 0 || bound.WantsExplanations)
            throw RqlErrors.At(
                query.Text, query.GroupBy[0].Value.Position,
                "Groups are no documents: 'highlight()' and 'explanations()' do not go with 'group by'.");
        return bound with { Source = SourceKind.AutoIndex, Groups = groups.With(bound.Fields.Select(use => use.Field)) };
    }

    private BoundQuery Bind()
    {
        RefuseUnsupported();
        BoundQuery bound = BindOutput(BindSource());
        return bound with
        {
            Skip = _parameters.Count(_query.Skip, "offset", 0),
            Take = _parameters.Count(_query.Take, "limit", long.MaxValue),
        };
    }

    private void RefuseUnsupported()
    {
        if (_query.From.PreFilter is { } preFilter)
            throw NotYet(preFilter.Position, "A condition in parentheses after the collection", "Write it after 'where'.");
        if (_query is { FilterLimit: { } filterLimit, Filter: null })
            throw RqlErrors.At(
                _query.Text, filterLimit.Position,
                "'filter_limit' says how many documents 'filter' looks at, and there is no 'filter'.");
        if (_query.Update is { } update)
            throw RqlErrors.At(
                _query.Text, update.Position,
                "'update' changes what the query finds: send it as an operation that patches by query, not as a query.");
        if (_query.GroupBy.Count > 0 && (_query.Filter?.Position ?? _query.Select?.Script?.Position) is { } computed)
            throw NotYet(computed, "JavaScript over groups", "Order and select the keys, counts and sums.");
    }

    private BoundQuery BindSource()
    {
        FromClause from = _query.From;
        string? collection = string.Equals(from.Name, AutoIndexDefinition.AllDocuments, StringComparison.OrdinalIgnoreCase)
            ? null
            : from.Name;
        if (!from.IsIndex && _query.OrderBy.Count == 0 && !IsComputed && BindIds() is { } direct)
            return direct with { Collection = collection };

        var conditions = new ConditionBinder(_query, _parameters, _fields, _context.LoadDocument);
        IndexQuery condition = _query.Where is null ? new MatchAllQuery() : conditions.Bind(_query.Where);
        IReadOnlyList<SortKey> sort = [.. _query.OrderBy.Select(BindOrderKey)];
        if (sort.Count == 0 && conditions.IsScored)
            sort = [BestFirst];

        IReadOnlyList<BoundFacet> facets = new FacetBinder(
            _query, _parameters, _fields, conditions, _context.LoadDocument).Bind();
        IReadOnlyList<BoundSuggestion> suggestions = new SuggestionBinder(_query, _parameters, _fields).Bind();
        bool isPlain = !from.IsIndex && condition is MatchAllQuery && sort.Count == 0 && facets.Count + suggestions.Count == 0;
        return new BoundQuery
        {
            Source = from.IsIndex ? SourceKind.NamedIndex : isPlain ? SourceKind.Collection : SourceKind.AutoIndex,
            Collection = from.IsIndex ? null : collection,
            IndexName = from.IsIndex ? from.Name : null,
            Condition = condition,
            ConditionPosition = _query.Where?.Position ?? 0,
            Sort = sort,
            Facets = facets,
            Suggestions = suggestions,
            Fields = _fields.Uses,
            IsScored = conditions.IsScored && sort.Any(k => k.Kind == SortKind.Score),
        };
    }

    private bool IsComputed =>
        _query.Select is { } select
            && select.Items.Any(item => FacetBinder.IsFacet(item.Value) || SuggestionBinder.IsSuggestion(item.Value));

    private static SortKey BestFirst => new("", SortKind.Score, Descending: true);

    /// <summary>Conditions on the id alone, which the store answers without an index.</summary>
    private BoundQuery? BindIds()
    {
        switch (_query.Where)
        {
            case CompareExpression { Operator: CompareOperator.Equal } compare when _fields.IsId(compare.Left):
                return OfIds([_parameters.Value(compare.Right)]);
            case InExpression { All: false } list when _fields.IsId(list.Operand):
                return OfIds(_parameters.Values(list.Values));
            case MethodExpression { Arguments: [{ } operand, { } prefix] } method
                when method.Is("startsWith") && _fields.IsId(operand.Value):
                return new BoundQuery
                {
                    Source = SourceKind.IdPrefix,
                    IdPrefix = _parameters.Text(prefix.Value, "the start of the id"),
                };
            default:
                return null;
        }
    }

    private static BoundQuery OfIds(List<FieldValue> values) =>
        new() { Source = SourceKind.Ids, Ids = [.. values.Select(v => v.Text).OfType<string>()] };

    private SortKey BindOrderKey(OrderKey key)
    {
        if (key.Value is MethodExpression method && !_fields.IsId(method))
            return BindOrderMethod(key, method);

        string field = _fields.Field(key.Value, AutoIndexFieldKind.Value).SchemaName;
        SortKind kind = key.Type switch
        {
            OrderType.Long => SortKind.Long,
            OrderType.Double => SortKind.Double,
            OrderType.AlphaNumeric => SortKind.AlphaNumeric,
            _ => SortKind.Text,
        };
        return new SortKey(field, kind, key.Descending, key.NullsFirst);
    }

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

        throw NotYet(method.Position, $"Order by '{method.Name}()'");
    }

    private SortKey BindCustomOrder(OrderKey key, MethodExpression method)
    {
        if (method.Arguments is not [{ Value: { } operand }, { Value: { } given }])
            throw RqlErrors.At(
                _query.Text, method.Position, "'custom()' takes a field and the name of an order: custom(Size, 'BySize').");

        string name = _parameters.Text(given, "the name of an order");
        if (!_context.Orders.TryGetValue(name, out ICustomOrder? order))
        {
            string known = _context.Orders.Count == 0
                ? "None is registered"
                : $"There are: {string.Join(", ", _context.Orders.Keys.Order(StringComparer.Ordinal))}";
            throw RqlErrors.At(
                _query.Text, given.Position, $"There is no order '{name}'. {known} (DatabaseOptions.CustomOrders).");
        }

        return new SortKey(
            _fields.Field(operand, AutoIndexFieldKind.Value).SchemaName, SortKind.Custom, key.Descending,
            key.NullsFirst)
        { Custom = order };
    }

    private BoundQuery BindOutput(BoundQuery bound)
    {
        var notes = new NoteBinder(_query, _parameters, _fields);
        var beside = new BesideBinder(_query, _parameters, _fields);
        var outputs = new OutputBinder(_query, _parameters, _fields, notes, beside) { Behavior = _context.Projection };
        QueryScript? script = bound.IsComputed ? null : QueryScript.Of(_query, _context.Computing);
        Projection? projection = script is { Selects: true } ? null : outputs.BindSelect();
        outputs.BindIncludes();
        return bound with
        {
            Projection = projection,
            Script = script,
            FilterLimit = _parameters.Count(_query.FilterLimit, "filter_limit", long.MaxValue),
            WantsTimings = outputs.WantsTimings,
            Distinct = (projection is not null || script is { Selects: true }) && _query.Select is { Distinct: true },
            NeverStale = outputs.NeverStale,
            IncludePaths = outputs.IncludePaths,
            IncludeIds = outputs.IncludeIds,
            BesideIncludes = beside.Includes,
            ReadsBeside = beside.Includes.Count > 0 || projection is { ReadsBeside: true } || _parameters.ReadsCompareExchange,
            Highlights = notes.Highlights,
            WantsExplanations = notes.WantsExplanations,
        };
    }

    private InvalidQueryException NotYet(int position, string what, string? advice = null) =>
        RqlErrors.NotSupportedYet(_query.Text, position, what, advice);
}
