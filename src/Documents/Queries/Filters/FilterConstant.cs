namespace Treepie.Queries.Filters;

/// <summary>A value that does not depend on paths: one given with the query, or the id.</summary>
internal sealed class FilterConstant(Func<FilterScope, FilterValue> value) : FilterOperand
{
    public override bool Any(FilterScope scope, Func<FilterValue, bool> test) => test(value(scope));
}
