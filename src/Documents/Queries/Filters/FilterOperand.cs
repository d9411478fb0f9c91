namespace Treepie.Queries.Filters;

/// <summary>What is compared: values of the document, or one given with the query.</summary>
internal abstract class FilterOperand
{
    /// <summary>Whether one of its values passes; of an array any may be meant, and what is missing is null.</summary>
    public abstract bool Any(FilterScope scope, Func<FilterValue, bool> test);

    /// <summary>Whether it is in the document, be it null.</summary>
    public virtual bool Exists(FilterScope scope) => true;
}
