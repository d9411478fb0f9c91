namespace Treepie.Queries.Filters;

/// <summary>The moments of an operand's times: <c>utc(path)</c>, or what is compared with it.</summary>
internal sealed class FilterMoment(FilterOperand times) : FilterOperand
{
    public override bool Any(FilterScope scope, Func<FilterValue, bool> test) =>
        times.Any(scope, time => test(time.ToMoment()));

    public override bool Exists(FilterScope scope) => times.Exists(scope);
}
