namespace Treepie.Queries.Filters;

/// <summary>What a function makes of each value of an operand: <c>utc(path)</c>, <c>length(path)</c>.</summary>
internal sealed class FilterMapped(FilterOperand values, Func<FilterValue, FilterValue> function) : FilterOperand
{
    public override bool Any(FilterScope scope, Func<FilterValue, bool> test) =>
        values.Any(scope, value => test(function(value)));

    public override bool Exists(FilterScope scope) => values.Exists(scope);
}
