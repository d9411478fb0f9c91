using System.Linq.Expressions;
using Treepie.Indexes;

namespace Treepie.IndexClasses;

/// <summary>Base class of an index over documents of several types, whose maps return the same members.</summary>
/// <typeparam name="TResult">The type of the map results, used in queries and in the reduce.</typeparam>
public abstract class MultiMapIndex<TResult> : IndexClass
{
    /// <summary>Sets the reduce; see <see cref="Index{TDocument, TResult}"/>.</summary>
    protected Expression<Func<IEnumerable<TResult>, IEnumerable<object?>>> Reduce
    {
        set => Reduces(value);
    }

    /// <summary>Adds a map for the documents of a type: it projects each document to the fields of the index.</summary>
    protected void AddMap<TDocument>(Expression<Func<IEnumerable<TDocument>, IEnumerable<object?>>> map) => Maps(map);

    /// <summary>Sets the options of a field.</summary>
    protected void Field(
        Expression<Func<TResult, object?>> member, Func<IndexFieldDefinition, IndexFieldDefinition> options) =>
        Options(member, options);
}
