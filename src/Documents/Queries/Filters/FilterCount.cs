namespace Treepie.Queries.Filters;

/// <summary><c>count(path)</c>, <c>count(path as x, condition)</c>: how many elements there are, or meet a condition.</summary>
/// <param name="array">The path of the arrays.</param>
/// <param name="element">Tests an element that the scope has been given.</param>
internal sealed class FilterCount(FilterPath array, Func<FilterScope, System.Text.Json.JsonElement, bool> element) : FilterOperand
{
    public override bool Any(FilterScope scope, Func<FilterValue, bool> test) => test(FilterValue.Of(Of(scope)));

    /// <summary>Returns the number.</summary>
    public long Of(FilterScope scope)
    {
        long count = 0;
        array.AnyElement(scope, each =>
        {
            if (element(scope, each))
                count++;
            return false; // visit all
        });
        return count;
    }
}
