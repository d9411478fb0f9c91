using Treepie.Indexes.Definitions;
using Treepie.Queries.Filters;
using Treepie.Queries.Projecting;
using Treepie.Queries.Scripts;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Binds values of an order or a facet that no index has: counters, functions of the query, functions of a field that the index
/// lacks, and fields of loaded documents. They are read of each result, as SELECT reads them.
/// </summary>
internal sealed class ExaminedValues
{
    private readonly RqlQuery _query;
    private readonly FieldBinder _fields;
    private readonly OutputBinder _values;
    private readonly BesideBinder _beside;
    private readonly LoadBinder _loads;
    private readonly List<string> _names = [];
    private bool _hasLoads;

    public ExaminedValues(RqlQuery query, QueryParameters parameters, FieldBinder fields)
    {
        (_query, _fields) = (query, fields);
        _loads = new LoadBinder(query);
        _beside = new BesideBinder(query, parameters, fields, _loads);
        _values = new OutputBinder(
            query, parameters, fields, new NoteBinder(query, parameters, fields), _beside, _loads);
    }

    /// <summary>Whether there are such values.</summary>
    public bool IsUsed => _names.Count > 0;

    /// <summary>Whether a value is read from something else than the document of the result.</summary>
    public bool ReadsBeside { get; private set; }

    /// <summary>What the answer says about the values; null if there are none.</summary>
    public string? Warning => !IsUsed
        ? null
        : $"No index has this of 'order by' or 'facet()': {string.Join(", ", _names.Distinct())}. So each result is examined for "
            + "it. A field that an index computes (from o in docs.Orders select new { Year = o.At.Year }) is faster.";

    /// <summary>Binds a value. Returns null if an index has it, or may have it.</summary>
    /// <param name="value">The value.</param>
    /// <param name="name">Its name; null for the one that it has in SELECT.</param>
    /// <exception cref="InvalidQueryException">The index has the field, but does not keep it.</exception>
    public ProjectedField? TryBind(Expression value, string? name)
    {
        if (!Takes(value))
            return null;
        if (_fields.Index is StaticIndexMapping { KeepsObjects: false } named)
            ExaminedConditions.RequireKnown(_query, value, named);
        if (!_hasLoads)
            _values.BindLoads();
        _hasLoads = true;
        bool isCall = value is MethodExpression call && _query.Declares(call);
        if (isCall)
            name = $"$examined{_names.Count}"; // the script computes values by name
        ProjectedField bound = _values.BindValue(new AliasedExpression(value, name));
        ReadsBeside |= bound.ReadsBeside || bound.IsComputedByScript;
        _names.Add(value is MethodExpression method ? $"'{method.Name}()'" : $"'{value}'");
        return bound;
    }

    /// <summary>Returns the script that computes the values that are calls of declared functions; null if none are.</summary>
    public QueryScript? Script(ComputingEngine? engine) => _values.Computed.Count == 0
        ? null
        : QueryScript.Of(_query with { Select = null }, engine, null, _values.Computed, _beside.BindDeclared);

    /// <summary>Whether a value is one that no index has.</summary>
    public bool Takes(Expression value) => value switch
    {
        PathExpression { Segments: [{ Quoted: false, Name: var root }, ..] } =>
            root != _query.From.Alias && _query.LoadNames.Contains(root),
        MethodExpression { Arguments: [{ Value: PathExpression { Segments: [{ Quoted: false, Name: var loaded }] } }] } method
            when method.Is("id") => loaded != _query.From.Alias && _query.LoadNames.Contains(loaded),
        MethodExpression method when _query.Declares(method) => true,
        MethodExpression method when method.Is("counter") => !_fields.HasNoIds || method.Arguments.Count > 1,
        MethodExpression { Arguments.Count: > 0 } method when FilterFunctions.Knows(method.Name) =>
            _fields.Index is StaticIndexMapping || ComputedOperand.Of(_query, method) is null,
        _ => false,
    };
}
