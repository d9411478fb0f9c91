namespace Treepie.Queries.Filters;

/// <summary>The moments of an operand's times: <c>utc(path)</c>, or what is compared with it.</summary>
internal sealed class FilterMoment(FilterOperand times, bool isGiven = false) : FilterOperand
{
    public override bool Any(FilterScope scope, Func<FilterValue, bool> test) =>
        times.Any(scope, time => test(time.ToMoment(isGiven)));

    public override bool Exists(FilterScope scope) => times.Exists(scope);
}
