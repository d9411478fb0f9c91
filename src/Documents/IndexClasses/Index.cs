using System.Linq.Expressions;
using Treepie.Indexes;

namespace Treepie.IndexClasses;

/// <summary>
/// An index over the documents of a type.
/// <code>
/// sealed class Orders_ByCity : Index&lt;Order&gt;
/// {
///     public Orders_ByCity()
///     {
///         Map = orders => from o in orders select new { o.City, Total = o.Lines.Sum(l => l.Price) };
///         Field(o => o.City, field => field with { Indexing = FieldIndexing.Search });
///     }
/// }
/// </code>
/// </summary>
/// <typeparam name="TDocument">The type.</typeparam>
public abstract class Index<TDocument> : IndexClass
{
    /// <summary>What the index has of each document: objects whose members are its fields.</summary>
    protected Expression<Func<IEnumerable<TDocument>, IEnumerable<object?>>> Map
    {
        set => Maps(value);
    }

    /// <summary>Options of a field, which is called as a member of the documents.</summary>
    protected void Field(
        Expression<Func<TDocument, object?>> member, Func<IndexFieldDefinition, IndexFieldDefinition> options) =>
        Options(member, options);
}

/// <summary>
/// An index over the documents of a type whose objects are of another type; with <see cref="Reduce"/> they are grouped.
/// </summary>
/// <typeparam name="TDocument">The type of the documents.</typeparam>
/// <typeparam name="TResult">The type of the objects, for queries and for the reduce.</typeparam>
public abstract class Index<TDocument, TResult> : IndexClass
{
    /// <summary>What the index has of each document: objects whose members are its fields.</summary>
    protected Expression<Func<IEnumerable<TDocument>, IEnumerable<object?>>> Map
    {
        set => Maps(value);
    }

    /// <summary>
    /// What becomes of the objects of a group: <c>results => from r in results group r by r.City into g select new { … }</c>,
    /// with the members that the map gives.
    /// </summary>
    protected Expression<Func<IEnumerable<TResult>, IEnumerable<object?>>> Reduce
    {
        set => Reduces(value);
    }

    /// <summary>Options of a field.</summary>
    protected void Field(
        Expression<Func<TResult, object?>> member, Func<IndexFieldDefinition, IndexFieldDefinition> options) =>
        Options(member, options);
}
