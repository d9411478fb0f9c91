using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// Grouped documents:
/// <c>orders.GroupBy(o => o.City).Select(g => new { City = g.Key, Count = g.Count(), Freight = g.Sum(o => o.Freight) })</c>. A
/// group offers its key, its count, and sums, averages, least and greatest values of members. The values come from a map-reduce
/// index, so no document is read.
/// </summary>
/// <typeparam name="TKey">The key of the groups: a member, or an anonymous object of several.</typeparam>
/// <typeparam name="T">The type of the documents.</typeparam>
public sealed class GroupQuery<TKey, T>
{
    private readonly QueryModel _model;
    private readonly Expression<Func<T, TKey>> _key;

    internal GroupQuery(QueryModel model, Expression<Func<T, TKey>> key) => (_model, _key) = (model, key);

    /// <summary>
    /// Projects each group. Conditions and orderings after it apply to groups; conditions before it can only use members of the
    /// key.
    /// </summary>
    public IDocumentQueryable<TResult> Select<TResult>(Expression<Func<IGrouping<TKey, T>, TResult>> selector)
    {
        ArgumentNullException.ThrowIfNull(selector);
        return new DocumentQueryable<TResult>(_model.Select(_key, selector));
    }
}
