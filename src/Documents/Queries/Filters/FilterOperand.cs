namespace Treepie.Queries.Filters;

/// <summary>An operand of a comparison: values of the document, or one given with the query.</summary>
internal abstract class FilterOperand
{
    /// <summary>
    /// Whether any value passes the test. An array also passes if one of its elements does; a missing value is null.
    /// </summary>
    public abstract bool Any(FilterScope scope, Func<FilterValue, bool> test);

    /// <summary>Whether the document has the operand, even if it is null.</summary>
    public virtual bool Exists(FilterScope scope) => true;
}
