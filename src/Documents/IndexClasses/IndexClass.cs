using System.Linq.Expressions;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Sessions;

namespace Treepie.IndexClasses;

/// <summary>
/// The common base of <see cref="Index{TDocument}"/>, <see cref="Index{TDocument, TResult}"/> and
/// <see cref="MultiMapIndex{TResult}"/>. Its expressions are converted to the C# text of an <see cref="IndexDefinition"/>, so the
/// index is identical to one defined as text.
/// </summary>
public abstract class IndexClass
{
    private readonly List<LambdaExpression> _maps = [];
    private readonly List<(LambdaExpression? Member, Func<IndexFieldDefinition, IndexFieldDefinition> Options)> _fields = [];
    private LambdaExpression? _reduce;

    private protected IndexClass()
    {
    }

    /// <summary>The name of the index in queries: by default the name of the class, with <c>_</c> replaced by <c>/</c>.</summary>
    public virtual string Name => GetType().Name.Replace('_', '/');

    /// <summary>Creates the definition of the index.</summary>
    /// <param name="session">Determines the names of collections and JSON members.</param>
    /// <exception cref="NotSupportedException">An expression cannot be converted to text; the message quotes it.</exception>
    /// <exception cref="InvalidIndexDefinitionException">The class has no map.</exception>
    public IndexDefinition ToDefinition(SessionOptions session)
    {
        ArgumentNullException.ThrowIfNull(session);
        if (_maps.Count == 0)
            throw new InvalidIndexDefinitionException(Name, "Maps", $"the class {GetType().Name} has no map.");
        var text = new ExpressionText(session);
        var fields = new Dictionary<string, IndexFieldDefinition>(StringComparer.Ordinal);
        IndexFieldDefinition? all = null;
        foreach ((LambdaExpression? member, Func<IndexFieldDefinition, IndexFieldDefinition> options) in _fields)
        {
            string name = member is null ? IndexDefinitionJson.AllFields : text.MemberOf(member);
            IndexFieldDefinition known = (member is null ? all : fields.GetValueOrDefault(name))
                ?? new IndexFieldDefinition { Name = name };
            if (member is null)
                all = options(known);
            else
                fields[name] = options(known);
        }

        return WireDefinition.OfMaps(Complete(new IndexDefinition
        {
            Name = Name,
            Maps = [.. _maps.Select(text.OfMap)],
            Reduce = _reduce is null ? null : text.OfReduce(_reduce),
            Fields = [.. fields.Values],
            AllFields = all,
        }));
    }

    /// <summary>
    /// Override to complete the definition, for example with output collections, handling of archived documents or additional
    /// sources.
    /// </summary>
    protected virtual IndexDefinition Complete(IndexDefinition definition) => definition;

    /// <summary>Sets the options of all fields that have none of their own.</summary>
    protected void AllFields(Func<IndexFieldDefinition, IndexFieldDefinition> options)
    {
        ArgumentNullException.ThrowIfNull(options);
        _fields.Add((null, options));
    }

    /// <summary>
    /// In a map: loads a document by id and tracks it as a reference, so that a change to it re-indexes the referring documents.
    /// Null if it does not exist or belongs to another collection.
    /// </summary>
    protected static T? LoadDocument<T>(string? id) => throw OnlyInExpressions();

    /// <summary>In a map: the same as <see cref="LoadDocument{T}(string)"/>, for several ids.</summary>
    protected static IEnumerable<T?> LoadDocument<T>(IEnumerable<string?> ids) => throw OnlyInExpressions();

    /// <summary>In a map: loads a compare-exchange value and tracks it as a reference; null if it does not exist.</summary>
    protected static T? LoadCompareExchangeValue<T>(string key) => throw OnlyInExpressions();

    /// <summary>In a map: returns the metadata of a document, as in <c>MetadataFor(o)["@last-modified"]</c>.</summary>
    protected static IReadOnlyDictionary<string, object?> MetadataFor(object document) => throw OnlyInExpressions();

    /// <summary>
    /// In a map: creates a dynamic field, whose name comes from the document. Return it, or an array of them, as a member of any
    /// name.
    /// </summary>
    protected static object CreateField(string name, object? value) => throw OnlyInExpressions();

    /// <summary>
    /// In a map: creates a dynamic field that may be stored, and analyzed for full-text search instead of indexed as an exact
    /// value.
    /// </summary>
    protected static object CreateField(string name, object? value, bool stored, bool words) => throw OnlyInExpressions();

    /// <summary>In a map: creates a spatial field from a point.</summary>
    protected static object CreateSpatialField(double? latitude, double? longitude) => throw OnlyInExpressions();

    /// <summary>In a map: creates a spatial field from a point or shape in WKT.</summary>
    protected static object CreateSpatialField(string? wkt) => throw OnlyInExpressions();

    /// <summary>In a map: creates a vector field, for <c>vector.search</c>.</summary>
    protected static object CreateVector(IEnumerable<float>? vector) => throw OnlyInExpressions();

    /// <summary>In a map: multiplies the scores of a result by a weight.</summary>
    protected static T Boost<T>(T result, double weight) => throw OnlyInExpressions();

    /// <summary>In a map: returns a value and all values reached by applying a function repeatedly, each once.</summary>
    protected static IEnumerable<T> Recurse<T>(T start, Func<T, T?> next) => throw OnlyInExpressions();

    /// <summary>In a map: the same, for a function that returns several values.</summary>
    protected static IEnumerable<T> Recurse<T>(T start, Func<T, IEnumerable<T>?> next) => throw OnlyInExpressions();

    /// <summary>In a map: returns the names of a document's counters.</summary>
    protected static IEnumerable<string> CounterNamesFor(object document) => throw OnlyInExpressions();

    /// <summary>In a map: returns the names of a document's time series.</summary>
    protected static IEnumerable<string> TimeSeriesNamesFor(object document) => throw OnlyInExpressions();

    private protected void Maps(LambdaExpression map)
    {
        ArgumentNullException.ThrowIfNull(map);
        _maps.Add(map);
    }

    private protected void Reduces(LambdaExpression reduce)
    {
        ArgumentNullException.ThrowIfNull(reduce);
        _reduce = reduce;
    }

    private protected void Options(LambdaExpression member, Func<IndexFieldDefinition, IndexFieldDefinition> options)
    {
        ArgumentNullException.ThrowIfNull(member);
        ArgumentNullException.ThrowIfNull(options);
        _fields.Add((member, options));
    }

    private static InvalidOperationException OnlyInExpressions() =>
        new("This is a word of the expressions of an index, which are not run as C#.");
}
