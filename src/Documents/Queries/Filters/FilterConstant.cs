namespace Treepie.Queries.Filters;

/// <summary>An operand that does not depend on a path: a value given with the query, or the document id.</summary>
internal sealed class FilterConstant(Func<FilterScope, FilterValue> value) : FilterOperand
{
    public override bool Any(FilterScope scope, Func<FilterValue, bool> test) => test(value(scope));
}
