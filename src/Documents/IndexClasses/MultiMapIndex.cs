using System.Linq.Expressions;
using Treepie.Indexes;

namespace Treepie.IndexClasses;

/// <summary>An index over documents of several types, whose maps give the same members.</summary>
/// <typeparam name="TResult">The type of the objects, for queries and for the reduce.</typeparam>
public abstract class MultiMapIndex<TResult> : IndexClass
{
    /// <summary>As of <see cref="Index{TDocument, TResult}"/>.</summary>
    protected Expression<Func<IEnumerable<TResult>, IEnumerable<object?>>> Reduce
    {
        set => Reduces(value);
    }

    /// <summary>What the index has of each document of a type.</summary>
    protected void AddMap<TDocument>(Expression<Func<IEnumerable<TDocument>, IEnumerable<object?>>> map) => Maps(map);

    /// <summary>Options of a field.</summary>
    protected void Field(
        Expression<Func<TResult, object?>> member, Func<IndexFieldDefinition, IndexFieldDefinition> options) =>
        Options(member, options);
}
