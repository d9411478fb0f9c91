using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// Documents in groups: <c>orders.GroupBy(o => o.City).Select(g => new { City = g.Key, Count = g.Count(), Freight = g.Sum(o =>
/// o.Freight) })</c>. Of a group there are its key, the number of its documents and sums of their members; an index keeps them,
/// so no document is read.
/// </summary>
/// <typeparam name="TKey">What documents are grouped by: a member, or an anonymous object of several.</typeparam>
/// <typeparam name="T">What is grouped.</typeparam>
public sealed class GroupQuery<TKey, T>
{
    private readonly QueryModel _model;
    private readonly Expression<Func<T, TKey>> _key;

    internal GroupQuery(QueryModel model, Expression<Func<T, TKey>> key) => (_model, _key) = (model, key);

    /// <summary>
    /// What each group becomes. Conditions and orders behind it are about groups; those before it can only be about keys.
    /// </summary>
    public IDocumentQueryable<TResult> Select<TResult>(Expression<Func<IGrouping<TKey, T>, TResult>> selector)
    {
        ArgumentNullException.ThrowIfNull(selector);
        return new DocumentQueryable<TResult>(_model.Select(_key, selector));
    }
}
