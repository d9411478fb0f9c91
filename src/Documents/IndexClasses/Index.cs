using System.Linq.Expressions;
using Treepie.Indexes;

namespace Treepie.IndexClasses;

/// <summary>
/// Base class of an index over the documents of one type.
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
/// <typeparam name="TDocument">The type of the documents.</typeparam>
public abstract class Index<TDocument> : IndexClass
{
    /// <summary>Sets the map: it projects each document to objects whose members are the fields of the index.</summary>
    protected Expression<Func<IEnumerable<TDocument>, IEnumerable<object?>>> Map
    {
        set => Maps(value);
    }

    /// <summary>Sets the options of a field, selected as a member of the documents.</summary>
    protected void Field(
        Expression<Func<TDocument, object?>> member, Func<IndexFieldDefinition, IndexFieldDefinition> options) =>
        Options(member, options);
}

/// <summary>
/// Base class of an index over the documents of one type whose map results have another type; with a <see cref="Reduce"/>, a
/// map-reduce index.
/// </summary>
/// <typeparam name="TDocument">The type of the documents.</typeparam>
/// <typeparam name="TResult">The type of the map results, used in queries and in the reduce.</typeparam>
public abstract class Index<TDocument, TResult> : IndexClass
{
    /// <summary>Sets the map: it projects each document to objects whose members are the fields of the index.</summary>
    protected Expression<Func<IEnumerable<TDocument>, IEnumerable<object?>>> Map
    {
        set => Maps(value);
    }

    /// <summary>
    /// Sets the reduce: it groups and aggregates the map results, as in
    /// <c>results => from r in results group r by r.City into g select new { … }</c>. Its results have the same members as the
    /// map's.
    /// </summary>
    protected Expression<Func<IEnumerable<TResult>, IEnumerable<object?>>> Reduce
    {
        set => Reduces(value);
    }

    /// <summary>Sets the options of a field.</summary>
    protected void Field(
        Expression<Func<TResult, object?>> member, Func<IndexFieldDefinition, IndexFieldDefinition> options) =>
        Options(member, options);
}
